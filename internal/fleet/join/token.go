package join

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

// tokenPrefix says what a token is, to people and to scanners for secrets.
const tokenPrefix = "svchost"

// Token lets a machine join. Its text is "svchost.<pin>.<secret>".
type Token struct {
	Pin    string     // SHA-256 of the public key of the daemon's authority, in hexadecimal
	Secret svc.Secret // shown to the daemon alone
}

// PinOf returns the pin of the authority whose certificate is in PEM text.
func PinOf(text []byte) (string, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return "", errors.New("no PEM certificate")
	}
	ca, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return "", err
	}
	return Pin(ca), nil
}

// NewToken makes a token for an authority.
func NewToken(ca *x509.Certificate) Token { return Token{Pin(ca), svc.Secret(rand.Text())} }

// Pin identifies an authority.
func Pin(ca *x509.Certificate) string {
	sum := sha256.Sum256(ca.RawSubjectPublicKeyInfo)
	return hex.EncodeToString(sum[:])
}

// Reveal returns the text of the token, a secret.
func (t Token) Reveal() string { return tokenPrefix + "." + t.Pin + "." + t.Secret.Reveal() }

// Equal compares secrets in a time that does not depend on them.
func (t Token) Equal(secret svc.Secret) bool {
	return t.Secret != "" && subtle.ConstantTimeCompare([]byte(t.Secret.Reveal()), []byte(secret.Reveal())) == 1
}

// ParseToken reads the text of a token. Its error does not repeat the text.
func ParseToken(text string) (Token, error) {
	parts := strings.Split(strings.TrimSpace(text), ".")
	if len(parts) != 3 || parts[0] != tokenPrefix || len(parts[1]) != hex.EncodedLen(sha256.Size) || parts[2] == "" {
		return Token{}, svc.Errorf(svc.BadRequest, svc.CodeHostTokenInvalid, "the join token is malformed: it has the form svchost.<pin>.<secret>").
			WithHint("copy the whole line that svcctl admin hosts token prints")
	}
	return Token{parts[1], svc.Secret(parts[2])}, nil
}
