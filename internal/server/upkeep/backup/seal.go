package backup

import (
	"bytes"
	"crypto/cipher"
	"fmt"
	"strconv"

	"github.com/klauspost/compress/zstd"

	"github.com/svcctl/svcctl/internal/lib/aead"
	"github.com/svcctl/svcctl/internal/svc"
)

// Format is the version of the objects that this program writes, and the newest that it
// reads.
const Format = 1

// magic begins each object; its format and a line feed follow.
const magic = "svcctl registry copy "

// maxSize bounds the decompressed size of one object.
const maxSize = 4 << 30

// sealer encrypts and decrypts objects.
type sealer struct{ aead cipher.AEAD }

func newSealer(key svc.Secret) (sealer, error) {
	if len(key) < minKey {
		return sealer{}, fmt.Errorf("the recovery key has %d characters, want at least %d", len(key), minKey)
	}
	a, err := aead.New([]byte(key.Reveal()), magic+"1")
	return sealer{a}, err
}

// minKey is the minimum length of a recovery key.
const minKey = 26

// seal compresses and encrypts the content of the object with this name.
func (s sealer) seal(name string, content []byte) ([]byte, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	head := []byte(magic + strconv.Itoa(Format) + "\n")
	return s.aead.Seal(head, nil, enc.EncodeAll(content, nil), []byte(name)), nil //nolint:gosec // the nonce is random and part of the result
}

// open is the reverse of seal.
func (s sealer) open(name string, object []byte) ([]byte, error) {
	rest, ok := bytes.CutPrefix(object, []byte(magic))
	version, sealed, found := bytes.Cut(rest, []byte("\n"))
	format, err := strconv.Atoi(string(version))
	switch {
	case !ok || !found || err != nil:
		return nil, fmt.Errorf("%s is not a copy of a registry", name)
	case format > Format:
		return nil, newer(name, format)
	}
	packed, err := s.aead.Open(nil, nil, sealed, []byte(name))
	if err != nil {
		return nil, svc.Errorf(svc.Forbidden, svc.CodeRecoveryKeyWrong, "%s cannot be decrypted", name).
			WithHint("use the recovery key of the server that wrote it: svcctl admin recovery-key prints it there")
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxSize))
	if err != nil {
		return nil, err
	}
	defer dec.Close()
	return dec.DecodeAll(packed, nil)
}

func newer(name string, format int) error {
	return svc.Errorf(svc.Unprocessable, svc.CodeFormatNewer, "%s has the format %d, this program knows %d", name, format, Format).
		WithHint("restore it with the release that wrote it, or a later one")
}
