// Package recordjson prints metadata records and control records as Kafka's generated JSON converters print them.
//
// The problem: people read logs as JSON, compare them with what Kafka's own tools show, and feed them to programs. So
// names, order and presence of fields have to be Kafka's: camelCase names in schema order, a field that the version
// lacks is absent, a tagged field at its default is absent, every other field is there. Integers of 64 bits are JSON
// numbers with all their digits, float64 reads as Java's Double.toString, a uuid is its 22 characters, bytes are
// standard base64 with padding, and null is null.
//
//	r, version, err := records.Decode(frame)
//	line := recordjson.Append(nil, r, version)
//
// The functions of the records come from the same table as the records themselves (metadata/records/schema.txt).
// Unknown tagged fields never show, in Kafka neither; UnknownTags tells where they are. Everything here is a pure
// function of its arguments. This is no deterministic room: it does float formatting.
//
// Refused: encoding/json over the record structs. It knows neither versions nor tags, and prints floats as Go does.
package recordjson
