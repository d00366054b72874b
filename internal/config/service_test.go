package config

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSettingsOfTheService: root's commands work on the server of the packages, with the
// settings that systemd gives it.
func TestSettingsOfTheService(t *testing.T) {
	t.Parallel()
	home, etc := t.TempDir(), t.TempDir()
	s := Service{"/var/lib/a", filepath.Join(etc, "svcd.yaml"), filepath.Join(etc, "svcd.env"), etc}
	load := func(environ ...string) *Daemon {
		t.Helper()
		src, err := s.Source(append([]string{"HOME=" + home}, environ...))
		if err != nil {
			t.Fatal(err)
		}
		cfg, err := LoadDaemon(src)
		if err != nil {
			t.Fatal(err)
		}
		return cfg
	}
	own := filepath.Join(home, ".local/state/svcd")
	if got := load().DataDir; got != own {
		t.Errorf("without the packages: %s, want root's own directory %s", got, own)
	}

	write(t, s.File, "svc_artifacts_bucket: from-file\ns3_endpoint: http://file.test\n")
	write(t, s.Variables, "# a comment\nS3_ENDPOINT=http://variable.test\nS3_ACCESS_KEY_ID=\"id\"\n;x=y\n")
	write(t, filepath.Join(etc, "s3_secret_access_key"), "secret\n")
	for _, role := range []string{"deploy", "admin"} {
		write(t, filepath.Join(etc, "svc_"+role+"_token"), role+"-token-of-the-test\n")
	}
	if deploy, admin := s.tokens(map[string]string{"HOME": home}); deploy.Reveal() != "deploy-token-of-the-test" || admin.Reveal() != "admin-token-of-the-test" {
		t.Errorf("tokens of %d and %d bytes", len(deploy), len(admin))
	}
	cfg := load()
	if cfg.DataDir != s.DataDir || cfg.RegistryDB != "/var/lib/a/registry.db" {
		t.Errorf("data in %s, registry %s", cfg.DataDir, cfg.RegistryDB)
	}
	if cfg.ArtifactsBucket != "from-file" || cfg.S3.Endpoint != "http://variable.test" || cfg.S3.AccessKey != "id" || cfg.S3.SecretKey.Reveal() != "secret" {
		t.Errorf("bucket %s, endpoint %s, key %s", cfg.ArtifactsBucket, cfg.S3.Endpoint, cfg.S3.AccessKey)
	}
	if got := load("S3_ENDPOINT=http://mine.test").S3.Endpoint; got != "http://mine.test" {
		t.Errorf("the endpoint of the command's environment became %s", got)
	}
	if got := load("SVC_DATA_DIR=/elsewhere"); got.DataDir != "/elsewhere" || got.ArtifactsBucket == "from-file" {
		t.Errorf("SVC_DATA_DIR gave %s, bucket %s", got.DataDir, got.ArtifactsBucket)
	}
	if err := os.MkdirAll(own, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(own, "registry.db"), "")
	if got := load().DataDir; got != own {
		t.Errorf("with a server of root's own: %s, want %s", got, own)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
