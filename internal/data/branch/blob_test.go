package branch_test

import (
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/svc"
)

func TestBlobKeys(t *testing.T) {
	t.Parallel()
	v := svc.Ref{Project: "shop", Version: "v1"}
	b := branch.NewBlob(v, 0x2a)
	if since := time.Since(b.Made()); since < 0 || since > time.Minute {
		t.Errorf("made %s ago", since)
	}
	key := b.Key()
	if !strings.HasPrefix(key, "shop/v1/blobs/000000000000002a-") || len(key) != len("shop/v1/blobs/")+16+1+36 || key[len("shop/v1/blobs/")+16+1+14] != '7' {
		t.Errorf("key %s", key)
	}
	if got, ok := branch.ParseBlob(key); !ok || got != b {
		t.Errorf("%s is read as %+v, %t", key, got, ok)
	}
	if branch.NewBlob(v, 0x2a) == b {
		t.Error("two blobs have one name")
	}
	for _, odd := range []string{
		"", "shop", "shop/v1", "shop/v1/blobs/", key + "0", key[1:], strings.ToUpper(key), strings.Replace(key, "/blobs/", "/db/", 1),
		strings.Replace(key, "2a-", "2A-", 1), strings.Replace(key, "-", "_", 2), key[:len(key)-1], "shop/v1/x/blobs/" + key[len("shop/v1/blobs/"):],
	} {
		if got, ok := branch.ParseBlob(odd); ok && odd != key && got.Version == v {
			t.Errorf("%q is read as %+v", odd, got)
		}
	}
}
