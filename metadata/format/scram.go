package format

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"hash"
	"math/big"
	"strconv"
	"strings"

	"github.com/kraftsim/kraftsim/metadata/records"
)

// The limits of Kafka for both mechanisms.
const (
	defaultIterations = 4096
	minIterations     = 4096
	maxIterations     = 16384
)

// mechanism is one SCRAM mechanism (RFC 5802) and its number in a UserScramCredentialRecord.
type mechanism struct {
	name   string
	number int8
	hash   func() hash.Hash
	size   int
}

var mechanisms = [...]mechanism{
	{"SCRAM-SHA-256", 1, sha256.New, sha256.Size},
	{"SCRAM-SHA-512", 2, sha512.New, sha512.Size},
}

// parseScram turns one --add-scram argument into its record (metadata-bootstrap 1.7, KIP-900):
// MECH=[name=..,password=..] or MECH=[name=..,saltedpassword=..,salt=..], each with optional iterations and salt.
func parseScram(argument string, chooser Chooser) (*records.UserScramCredentialRecord, error) {
	fail := func(format string, args ...any) (*records.UserScramCredentialRecord, error) {
		return nil, fmt.Errorf("%w: --add-scram: %s", ErrOptions, fmt.Sprintf(format, args...))
	}
	name, config, found := strings.Cut(trim(argument), "=")
	if !found {
		return fail("no equals sign, want MECHANISM=[name=...,password=...]")
	}
	mech := findMechanism(name)
	if mech == nil {
		return fail("mechanism %q is not supported, use SCRAM-SHA-256 or SCRAM-SHA-512", name)
	}
	if len(config) < 2 || config[0] != '[' || config[len(config)-1] != ']' {
		return fail("%s: the values must stand in [ and ]", name)
	}
	values, err := scramValues(config[1 : len(config)-1])
	if err != nil {
		return fail("%s: %s", name, err)
	}
	r := &records.UserScramCredentialRecord{Name: values.name, Mechanism: mech.number, Iterations: values.iterations}
	if r.Salt = values.salt; !values.hasSalt {
		r.Salt = drawSalt(chooser, name+" "+values.name)
	}
	salted := values.saltedPassword
	if values.hasPassword {
		if salted, err = pbkdf2.Key(mech.hash, values.password, r.Salt, int(values.iterations), mech.size); err != nil {
			return fail("%s: %s", name, err)
		}
	}
	digest := mech.hash()
	digest.Write(mech.mac(salted, "Client Key"))
	r.StoredKey = digest.Sum(nil)
	r.ServerKey = mech.mac(salted, "Server Key")
	if err := r.Check(0); err != nil {
		return fail("%s: %s", name, err)
	}
	return r, nil
}

func findMechanism(name string) *mechanism {
	for i := range mechanisms {
		if mechanisms[i].name == name {
			return &mechanisms[i]
		}
	}
	return nil
}

func (m *mechanism) mac(key []byte, text string) []byte {
	h := hmac.New(m.hash, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// scramConfig is what stands between the brackets.
type scramConfig struct {
	name, password                        string
	salt, saltedPassword                  []byte
	iterations                            int32
	hasName, hasPassword, hasSalt, salted bool
}

func scramValues(text string) (c scramConfig, err error) {
	c.iterations = defaultIterations
	for i, component := range strings.Split(strings.TrimRight(text, ","), ",") {
		key, value, found := strings.Cut(component, "=")
		if !found { // it may be a piece of a password: no word of it
			return c, fmt.Errorf("no equals sign in item %d: a value can't have a comma", i+1)
		}
		if len(value) >= 2 && value[0] == '"' && value[len(value)-1] == '"' {
			value = value[1 : len(value)-1]
		}
		if err := c.set(key, value); err != nil {
			return c, err
		}
	}
	switch {
	case !c.hasName:
		return c, fmt.Errorf("name is missing")
	case c.hasPassword == c.salted:
		return c, fmt.Errorf("give one of password and saltedpassword")
	case c.hasPassword && c.password == "":
		return c, fmt.Errorf("password is empty")
	case c.salted && len(c.saltedPassword) == 0:
		return c, fmt.Errorf("saltedpassword is empty")
	case c.salted && !c.hasSalt:
		return c, fmt.Errorf("saltedpassword needs salt")
	}
	return c, nil
}

func (c *scramConfig) set(key, value string) (err error) {
	switch key {
	case "name":
		c.name, c.hasName = value, true
	case "password":
		c.password, c.hasPassword = value, true
	case "salt":
		c.salt, err = decodeBase64(value)
		c.hasSalt = true
	case "saltedpassword":
		c.saltedPassword, err = decodeBase64(value)
		c.salted = true
	case "iterations":
		n, parseErr := strconv.ParseInt(value, 10, 32)
		if parseErr != nil || n < minIterations || n > maxIterations {
			return fmt.Errorf("iterations %q is not a number from %d to %d", value, minIterations, maxIterations)
		}
		c.iterations = int32(n)
	default:
		return fmt.Errorf("%q is not known, known are name, password, saltedpassword, salt, iterations", key)
	}
	if err != nil {
		return fmt.Errorf("%s is not base64", key)
	}
	return nil
}

// decodeBase64 takes what Java's basic decoder takes: padding may be left out, line breaks are errors.
func decodeBase64(text string) ([]byte, error) {
	if strings.ContainsAny(text, "\r\n") {
		return nil, base64.CorruptInputError(0)
	}
	if len(text)%4 == 0 {
		return base64.StdEncoding.DecodeString(text)
	}
	return base64.RawStdEncoding.DecodeString(text)
}

// drawSalt makes a salt as Kafka does: 130 random bits as a number in base 36.
func drawSalt(chooser Chooser, name string) []byte {
	number := new(big.Int)
	for word := range uint64(5) {
		draw := chooser.Choose(SiteSalt, nameHash(name)+word, 1<<26)
		number.Or(number.Lsh(number, 26), big.NewInt(draw))
	}
	return number.Append(nil, 36)
}

// HidePassword returns an --add-scram argument without its passwords, for messages and logs. An argument of another form is hidden
// altogether.
func HidePassword(argument string) string {
	name, config, found := strings.Cut(trim(argument), "=")
	if !found || len(config) < 2 || config[0] != '[' || config[len(config)-1] != ']' {
		return "***"
	}
	parts := strings.Split(config[1:len(config)-1], ",")
	for i, part := range parts {
		switch key, _, found := strings.Cut(part, "="); {
		case !found: // what a comma cut off a password
			parts[i] = "***"
		case key != "name" && key != "iterations" && key != "salt":
			parts[i] = key + "=***"
		}
	}
	return name + "=[" + strings.Join(parts, ",") + "]"
}
