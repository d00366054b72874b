package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/config"
)

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestSecretsFromFiles: every secret setting, by its variable, by the config file and as a
// credential of systemd.
func TestSecretsFromFiles(t *testing.T) {
	t.Parallel()
	dir, keys := t.TempDir(), t.TempDir()
	values := map[string]string{
		"SVC_RECOVERY_KEY": strings.Repeat("hunter2", 4), "SVC_SMTP_URL": "smtp://u:hunter2@mail.example", "SVC_HYPERDRIVE": "a=mysql://u:hunter2@db.example/shop",
		"OTEL_EXPORTER_OTLP_HEADERS": "x-key=hunter2", "SVC_SECRETS_KEY": "a:" + strings.Repeat("h", 43) + "=",
	}
	var byVariable, inFile []string
	for _, s := range config.DaemonSettings() {
		if s.FileEnv() == "" {
			continue
		}
		value := values[s.Env]
		if value == "" {
			value = "hunter2"
		}
		path := write(t, filepath.Join(dir, s.Key()), value+"\n")
		write(t, filepath.Join(keys, s.Key()), value)
		byVariable = append(byVariable, s.FileEnv()+"="+path)
		inFile = append(inFile, s.Key()+"_file: "+path)
	}
	yaml := write(t, filepath.Join(dir, "svcd.yaml"), strings.Join(inFile, "\n"))
	others := []string{"S3_ENDPOINT=http://127.0.0.1:9000", "S3_ACCESS_KEY_ID=k", "SVC_TLS_EMAIL=ops@example.com", "SVC_TLS_DNS=cloudflare", "HOME=" + dir}
	for name, src := range map[string]config.Source{
		"environment": {Environ: append(byVariable, others...)},
		"file":        {Environ: others, File: yaml},
		"credentials": {Environ: append([]string{"CREDENTIALS_DIRECTORY=" + keys}, others...)},
	} {
		d, err := config.LoadDaemon(src)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if d.AdminToken != "hunter2" || d.DeployToken != "hunter2" || d.LegacyToken != "hunter2" || d.S3.SecretKey != "hunter2" || d.TLS.DNS.Secret != "hunter2" || d.Backends.AI.Key != "hunter2" ||
			string(d.RecoveryKey) != values["SVC_RECOVERY_KEY"] || d.Backends.Mail.Password != "hunter2" || d.Backends.Databases[0].Password != "hunter2" || d.SecretsKey == nil || d.SecretsKey.Current() != "a" {
			t.Errorf("%s: a secret is missing", name)
		}
		want := name
		if name == "credentials" {
			want = "environment" // it names their directory
		}
		for _, s := range d.InEffect {
			if s.Secret && (s.Value != "[redacted]" || s.Source != want) {
				t.Errorf("%s: %+v", name, s)
			}
		}
	}
}

// TestSecretFileThatIsNotUsable: the error names the file, and never what is in it.
func TestSecretFileThatIsNotUsable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	missing, usable := filepath.Join(dir, "missing"), write(t, filepath.Join(dir, "svc_admin_token"), "hunter2")
	for name, tc := range map[string]struct {
		path, want string
		env        []string
	}{
		"missing":      {missing, "SVC_ADMIN_TOKEN_FILE=" + missing + ": open " + missing, nil},
		"a directory":  {dir, "SVC_ADMIN_TOKEN_FILE=" + dir + ": read " + dir, nil},
		"empty":        {write(t, filepath.Join(dir, "empty"), "\n"), "empty: the file is empty", nil},
		"binary":       {write(t, filepath.Join(dir, "binary"), "hunter2\x00"), "binary: the file is no text", nil},
		"large":        {write(t, filepath.Join(dir, "large"), strings.Repeat("hunter2", 10_000)), "large: the file has more than 65536 bytes", nil},
		"given twice":  {usable, "SVC_ADMIN_TOKEN: is set by SVC_ADMIN_TOKEN and by SVC_ADMIN_TOKEN_FILE", []string{"SVC_ADMIN_TOKEN=hunter2"}},
		"a credential": {usable, "set by SVC_ADMIN_TOKEN_FILE and by CREDENTIALS_DIRECTORY", []string{"CREDENTIALS_DIRECTORY=" + dir}},
		"parse":        {usable, "SVC_RECOVERY_KEY_FILE=" + usable + ": want at least 26 characters", []string{"SVC_RECOVERY_KEY_FILE=" + usable}},
		"not a secret": {usable, "SVC_QUEUE_MAX_FILE: unknown setting", []string{"SVC_QUEUE_MAX_FILE=" + usable}},
	} {
		_, err := load(t, append(tc.env, "SVC_DEPLOY_TOKEN=x", "SVC_ADMIN_TOKEN_FILE="+tc.path)...)
		if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}

// TestUnitNamesEverySecret: systemd passes on the credentials that the unit names.
func TestUnitNamesEverySecret(t *testing.T) {
	t.Parallel()
	unit, err := os.ReadFile("../../packaging/systemd/svcd.service")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range config.DaemonSettings() {
		if s.Secret && !strings.Contains(string(unit), "\nLoadCredential="+s.Key()+"\n") {
			t.Errorf("svcd.service has no line LoadCredential=%s", s.Key())
		}
	}
}

// TestSecretsKeyApart: the key of secrets is not in the data directory, also by a link, and no error has a
// part of a key.
func TestSecretsKeyApart(t *testing.T) {
	t.Parallel()
	dir, apart := t.TempDir(), t.TempDir()
	const key = "a:aHVudGVyMmh1bnRlcjJodW50ZXIyaHVudGVyMmh1bnQ="
	inside, outside := write(t, filepath.Join(dir, "key"), key), write(t, filepath.Join(apart, "key"), key)
	link := filepath.Join(apart, "link")
	if err := os.Symlink(inside, link); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{inside: "is in the data directory", link: "is in the data directory", outside: ""} {
		d, err := load(t, "SVC_DATA_DIR="+dir, "SVC_SECRETS_KEY_FILE="+path)
		if want == "" && (err != nil || !d.SecretsKey.Has("a")) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	if _, err := load(t, "SVC_SECRETS_KEY="+key+"\nb:aHVudGVy"); err == nil || !strings.Contains(err.Error(), "SVC_SECRETS_KEY=[redacted]: line 2: want ID:KEY") || strings.Contains(err.Error(), "aHVudGVy") {
		t.Errorf("a bad line: %v", err)
	}
}
