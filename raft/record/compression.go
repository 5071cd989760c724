package record

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// maxDecompressed bounds what a compressed batch may grow to, in bytes. A batch of the metadata log has 8 MiB at most.
const maxDecompressed = 64 << 20

// decompress returns the records of a compressed batch. Kafka's metadata log is never compressed, but its reader goes
// through the ordinary decompressing stream, so a compressed batch is readable (formats.md 3). Everything here runs
// on the caller's stack.
func decompress(kind int8, body []byte) (out []byte, err error) {
	switch kind {
	case CompressionGzip:
		out, err = gunzip(body)
	case CompressionSnappy:
		out, err = unsnappy(body)
	case CompressionLZ4:
		out, err = unlz4(body)
	case CompressionZstd:
		out, err = unzstd(body)
	default:
		return nil, fmt.Errorf("%w: compression type %d", ErrUnsupported, kind)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: compression type %d: %w", ErrMalformed, kind, err)
	}
	return out, nil
}

func gunzip(body []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	out, err := io.ReadAll(io.LimitReader(r, maxDecompressed+1))
	if err == nil && len(out) > maxDecompressed {
		err = errTooLarge
	}
	return out, err
}

func unzstd(body []byte) ([]byte, error) {
	// Without a stream and with a concurrency of one the decoder starts no goroutine.
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxDecompressed))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.DecodeAll(body, nil)
}

var errTooLarge = fmt.Errorf("more than %d bytes", maxDecompressed)
