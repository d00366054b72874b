package aead_test

import (
	"bytes"
	"testing"

	"github.com/svcctl/svcctl/internal/lib/aead"
)

// TestNew: only the same secret, purpose and name open what was sealed, and two sealed texts
// of the same content differ.
func TestNew(t *testing.T) {
	t.Parallel()
	open := func(secret, purpose, name string, sealed []byte) error {
		a, err := aead.New([]byte(secret), purpose)
		if err != nil {
			t.Fatal(err)
		}
		_, err = a.Open(nil, nil, sealed, []byte(name))
		return err
	}
	a, err := aead.New([]byte("secret"), "keys")
	if err != nil {
		t.Fatal(err)
	}
	one, two := a.Seal(nil, nil, []byte("text"), []byte("name")), a.Seal(nil, nil, []byte("text"), []byte("name"))
	if bytes.Equal(one, two) || bytes.Contains(one, []byte("text")) {
		t.Errorf("%x, %x", one, two)
	}
	if err := open("secret", "keys", "name", one); err != nil {
		t.Error(err)
	}
	for _, bad := range [][3]string{{"other", "keys", "name"}, {"secret", "other", "name"}, {"secret", "keys", "other"}} {
		if open(bad[0], bad[1], bad[2], one) == nil {
			t.Errorf("%v opens it", bad)
		}
	}
}
