package https_test

import (
	"crypto/tls"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/edge/https"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) { svctest.Main(m, nil) }

// hello asks for a certificate of a host.
func hello(t *testing.T, f *https.Files, host string) []string {
	t.Helper()
	c, err := f.GetCertificate(&tls.ClientHelloInfo{ServerName: host, SupportedVersions: []uint16{tls.VersionTLS13}, SignatureSchemes: []tls.SignatureScheme{tls.ECDSAWithP256AndSHA256}})
	if err != nil {
		t.Fatal(err)
	}
	return c.Leaf.DNSNames
}

// TestFilesChange: a certificate is chosen by host, a renewed one is used after a second, and a
// damaged one does not replace the one before.
func TestFilesChange(t *testing.T) {
	t.Parallel()
	ca := svctest.NewAuthority(t)
	one, two := t.TempDir(), t.TempDir()
	cert1, key1 := ca.Write(t, one, "*.apps.test")
	cert2, key2 := ca.Write(t, two, "api.test")
	synctest.Test(t, func(t *testing.T) {
		log := &svctest.Buffer{}
		f, err := https.OpenFiles(slog.New(slog.NewTextHandler(log, nil)), https.Pair{Cert: cert1, Key: key1}, https.Pair{Cert: cert2, Key: key2})
		if err != nil {
			t.Fatal(err)
		}
		for host, want := range map[string]string{"v1.apps.test": "*.apps.test", "api.test": "api.test", "other.test": "*.apps.test", "": "*.apps.test"} {
			if got := hello(t, f, host); got[0] != want {
				t.Errorf("%q: the certificate of %v", host, got)
			}
		}
		ca.Write(t, two, "deploy.test")
		if got := hello(t, f, "deploy.test"); got[0] != "*.apps.test" {
			t.Errorf("within the second: %v", got)
		}
		time.Sleep(time.Second)
		if got := hello(t, f, "deploy.test"); got[0] != "deploy.test" {
			t.Errorf("after the second: %v", got)
		}
		if err := os.WriteFile(cert2, []byte("half a file"), 0o600); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			time.Sleep(time.Second)
			if got := hello(t, f, "deploy.test"); got[0] != "deploy.test" {
				t.Errorf("with a damaged file: %v", got)
			}
		}
		if n := strings.Count(log.String(), "the one before stays in use"); n != 1 {
			t.Errorf("logged %d times:\n%s", n, log)
		}
		if list := f.List(); len(list) != 2 || list[0].Error != "" || !strings.Contains(list[1].Error, cert2) || list[1].Issuer != "svctest" {
			t.Errorf("%+v", list)
		}
	})
}

// TestFilesThatAreNotUsable: the error names the file.
func TestFilesThatAreNotUsable(t *testing.T) {
	t.Parallel()
	ca := svctest.NewAuthority(t)
	cert, key := ca.Write(t, t.TempDir(), "a.test")
	_, other := ca.Write(t, t.TempDir(), "b.test")
	missing := filepath.Join(t.TempDir(), "missing.pem")
	for _, tc := range []struct {
		pair https.Pair
		want string
	}{
		{https.Pair{Cert: missing, Key: key}, missing},
		{https.Pair{Cert: cert, Key: missing}, missing},
		{https.Pair{Cert: cert, Key: other}, "private key does not match"},
		{https.Pair{Cert: key, Key: cert}, cert},
	} {
		if _, err := https.OpenFiles(slog.New(slog.DiscardHandler), tc.pair); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v: %v", tc.pair, err)
		}
	}
}
