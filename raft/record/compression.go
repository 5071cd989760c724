package record

import "fmt"

// decompress returns the records of a compressed batch. Kafka's metadata log is never compressed; batches from elsewhere may be.
func decompress(kind int8, body []byte) ([]byte, error) {
	return nil, fmt.Errorf("%w: compression type %d", ErrUnsupported, kind)
}
