package config_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/svc"
)

func load(t *testing.T, env ...string) (*config.Daemon, error) {
	t.Helper()
	return config.LoadDaemon(config.Source{Environ: append([]string{"HOME=" + t.TempDir()}, env...)})
}

// spec: [C16.5] [C16.6] [C16.9] [C16.14] [C16.19] [C16.20]
func TestDefaults(t *testing.T) {
	t.Parallel()
	d, err := load(t)
	if err != nil {
		t.Fatal(err)
	}
	if d.APIPort != 8790 || d.GatewayPort != 8787 || d.BaseDomain != "ingress.local" || d.QueueMax != 10000 || d.OrchWorkers != 1 ||
		d.ArtifactsBucket != "svc-artifacts" || d.RuntimeBucket != "svc-runtime" || d.ListenHost != "127.0.0.1" ||
		d.ArtifactWait != time.Minute || d.Durability != "async" || d.GatewayEngine != "loop" || d.PageOut != (config.PageOut{Idle: 10 * time.Minute, Auto: true}) || d.RecycleMB != 0 || d.SyncWindow != time.Second || d.LeaseTTL != 15*time.Second || d.GCGrace != time.Hour || d.GCEvery != 10*time.Minute || d.BranchStore != (config.BranchStore{}) || d.Limits.Modules != 64<<20 || d.SchemeProd != "http" || d.Forks.Production != svc.ProdForkReject ||
		strings.Join(d.Forks.PRRefs, " ") != "refs/pull/* refs/merge-requests/* pull/* pr/*" || d.ScrubSQL != "" ||
		!strings.HasSuffix(d.RegistryDB, ".local/state/svcd/registry.db") {
		t.Errorf("defaults: %+v", d)
	}
}

func TestEveryProblemIsNamedAtOnce(t *testing.T) {
	t.Parallel()
	_, err := load(t,
		"PLATFORM_PORT=70000", "SVC_QUEUE_MAX=none", "SVC_GATEWAY=x", "SVC_LENIENT_DEPLOY=maybe", "GATEWAY_URL=gateway",
		"SVC_ARCHIVE_IDLE=soon", "SVC_KEEP_FAILED=7d,x", "SVC_ROLLBACK_KEEP=2000", "SVC_RELEASE_HOLD=0", "SVC_RELEASE_DRAIN=off", "SVC_ELASTIC_RUNTIME=maybe", "SVC_PROD_FORK=perhaps", "SVC_ADMIN_TOKEN=sesame", "S3_SECRET_ACCESS_KEY=hunter2", "SVC_LISTEN_HOST=0.0.0.0",
	)
	if err == nil {
		t.Fatal("accepted")
	}
	text := err.Error()
	for _, want := range []string{
		"PLATFORM_PORT=70000", "SVC_QUEUE_MAX=none", "SVC_GATEWAY: unknown setting", "SVC_LENIENT_DEPLOY=maybe", "GATEWAY_URL=gateway",
		"SVC_ARCHIVE_IDLE=soon", "SVC_KEEP_FAILED=7d,x", "SVC_ROLLBACK_KEEP=2000", "SVC_RELEASE_HOLD=0", "SVC_RELEASE_DRAIN=off", "SVC_ELASTIC_RUNTIME=maybe", "SVC_PROD_FORK=perhaps", "set both", "S3_ENDPOINT is not",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in:\n%s", want, text)
		}
	}
	_, err = load(t, "S3_ENDPOINT=http://me:hunter2@store.example", "GATEWAY_URL=http://me:hunter2@gw.example")
	if err == nil {
		t.Fatal("credentials in URLs were accepted")
	}
	if text += err.Error(); strings.Contains(text, "sesame") || strings.Contains(text, "hunter2") {
		t.Errorf("a secret is in:\n%s", text)
	}
}

// spec: [C16.5] [C16.6] [C16.19]
func TestPrecedence(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "svcd.yaml")
	if err := os.WriteFile(file, []byte("platform_port: 1\ngateway_port: 2\nsvc_queue_max: 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := config.LoadDaemon(config.Source{
		File: file, Environ: []string{"PLATFORM_PORT=11", "GATEWAY_PORT=12"}, Flags: map[string]string{"port": "21"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if d.APIPort != 21 || d.GatewayPort != 12 || d.QueueMax != 3 {
		t.Errorf("port %d, gateway %d, queue %d", d.APIPort, d.GatewayPort, d.QueueMax)
	}
	if err := os.WriteFile(file, []byte("platform_prot: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := config.LoadDaemon(config.Source{File: file}); err == nil || !strings.Contains(err.Error(), "platform_prot") {
		t.Errorf("a misspelt key: %v", err)
	}
}

func TestDependentSettings(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		env  string
		want string
	}{
		"outside without tokens": {"SVC_LISTEN_HOST=0.0.0.0", "reachable from outside"},
		"outside with legacy":    {"SVC_LISTEN_HOST=0.0.0.0 PLATFORM_TOKEN=x", ""},
		"one token":              {"SVC_DEPLOY_TOKEN=x", "set both"},
		"store without keys":     {"S3_ENDPOINT=http://127.0.0.1:9000", "needs S3_ACCESS_KEY_ID"},
		"https":                  {"SVC_TLS_CERT=/a.pem,/b.pem SVC_TLS_KEY=/a.key,/b.key SVC_HTTP_PORT=off", ""},
		"https without a key":    {"SVC_TLS_CERT=/a.pem,/b.pem SVC_TLS_KEY=/a.key", "SVC_TLS_CERT names 2 files, SVC_TLS_KEY 1"},
		"https on demand":        {"SVC_TLS_EMAIL=ops@example.com SVC_TLS_DIRECTORY=https://localhost:14000/dir", ""},
		"records by a token":     {"SVC_TLS_EMAIL=ops@example.com SVC_TLS_DNS=cloudflare SVC_TLS_DNS_SECRET=t SVC_TLS_DNS_RESOLVERS=1.1.1.1,[2606::1]:5353", ""},
		"records, no email":      {"SVC_TLS_DNS=cloudflare SVC_TLS_DNS_SECRET=t", "SVC_TLS_DNS needs SVC_TLS_EMAIL"},
		"records, no service":    {"SVC_TLS_EMAIL=ops@example.com SVC_TLS_DNS_SECRET=hunter2", "need SVC_TLS_DNS"},
		"records, other service": {"SVC_TLS_EMAIL=ops@example.com SVC_TLS_DNS=bind", "want one of cloudflare, route53, rfc2136, acme-dns"},
		"records, no token":      {"SVC_TLS_EMAIL=ops@example.com SVC_TLS_DNS=cloudflare", "cloudflare wants an API token"},
		"records, no server":     {"SVC_TLS_EMAIL=ops@example.com SVC_TLS_DNS=rfc2136 SVC_TLS_DNS_SECRET=hmac-sha256:k:a2V5", "rfc2136 wants the name server"},
		"records, one server":    {"SVC_TLS_EMAIL=ops@example.com SVC_TLS_DNS=cloudflare SVC_TLS_DNS_SECRET=t SVC_TLS_DNS_SERVER=x", "cloudflare wants none"},
		"records, no account":    {"SVC_TLS_EMAIL=ops@example.com SVC_TLS_DNS=acme-dns SVC_TLS_DNS_SERVER=https://auth.example.com SVC_TLS_DNS_SECRET={}", "the JSON that its /register answered"},
		"records, no key":        {"SVC_TLS_EMAIL=ops@example.com SVC_TLS_DNS=rfc2136 SVC_TLS_DNS_SERVER=ns1.example.com SVC_TLS_DNS_SECRET=hmac-sha256:k:?", "ALGORITHM:NAME:KEY"},
		"records, half a key":    {"SVC_TLS_EMAIL=ops@example.com SVC_TLS_DNS=route53 SVC_TLS_DNS_SECRET=hunter2", "ID:SECRET of an access key"},
		"records, bad resolver":  {"SVC_TLS_EMAIL=ops@example.com SVC_TLS_DNS=cloudflare SVC_TLS_DNS_SECRET=t SVC_TLS_DNS_RESOLVERS=1.1.1.1:x", "is not a host with a port"},
		"https, a bad email":     {"SVC_TLS_EMAIL=<ops@example.com>", "want an address such as ops@example.com"},
		"https, no email":        {"SVC_TLS_DIRECTORY=https://localhost:14000/dir", "SVC_TLS_DIRECTORY needs SVC_TLS_EMAIL"},
		"https, plain directory": {"SVC_TLS_EMAIL=ops@example.com SVC_TLS_DIRECTORY=http://localhost:14000/dir", "want an https URL"},
		"https, one port":        {"SVC_TLS_CERT=/a.pem SVC_TLS_KEY=/a.key SVC_TLS_PORT=80", "SVC_TLS_PORT and SVC_HTTP_PORT are the same"},
		"https, redirect port":   {"SVC_HTTP_PORT=none", "SVC_HTTP_PORT=none: want a whole number"},
		"proxies":                {"SVC_TRUSTED_PROXIES=10.0.0.0/8,fd00::1", ""},
		"no proxies":             {"SVC_TRUSTED_PROXIES=off", ""},
		"proxies by name":        {"SVC_TRUSTED_PROXIES=proxy.example", `"proxy.example" is not an IP address or prefix`},
		"locations":              {"SVC_GEOIP_DB=/srv/city.mmdb,/srv/asn.mmdb", ""},
		"models":                 {"SVC_AI_MODELS=@cf/meta/*=llama3.1:8b,*=gpt-4o", ""},
		"models without a name":  {"SVC_AI_MODELS==x", "want pairs such as"},
		"models, two stars":      {"SVC_AI_MODELS=*a*=x", "a * that is not at its end"},
		"analytics":              {"SVC_ANALYTICS_RETENTION=off", ""},
		"analytics, too short":   {"SVC_ANALYTICS_RETENTION=59m", "want at least 1h, or off"},
		"traces":                 {"OTEL_EXPORTER_OTLP_ENDPOINT=http://collector.example:4318", ""},
		"traces, by gRPC":        {"OTEL_EXPORTER_OTLP_PROTOCOL=grpc", "http/protobuf"},
		"traces, no headers":     {"OTEL_EXPORTER_OTLP_HEADERS=secret", "want name=value"},
		"traces, no part":        {"OTEL_TRACES_SAMPLER_ARG=2", "want a number from 0 to 1"},
		"mail":                   {"SVC_SMTP_URL=smtp://u:p@mail.example", ""},
		"mail, not a URL":        {"SVC_SMTP_URL=mail.example:25", "want smtp://user:password@host:587"},
		"hyperdrive":             {"SVC_HYPERDRIVE=a1=postgres://u:p@db.example/shop,b2=mysql://u:p@db.example:3307/shop", ""},
		"mail, authority":        {"SVC_SMTP_URL=smtps://mail.example?sslrootcert=/etc/ca.pem", ""},
		"mail, query":            {"SVC_SMTP_URL=smtps://mail.example?x=1", "want smtp://user:password@host:587"},
		"hyperdrive by TLS":      {"SVC_HYPERDRIVE=a1=postgres://u:p@db.example/shop?sslmode=verify-full&sslrootcert=/etc/ca.pem", ""},
		"hyperdrive, mysql, TLS": {"SVC_HYPERDRIVE=a1=mysql://u:p@db.example/shop?ssl-mode=VERIFY_CA&ssl-ca=/etc/ca.pem", ""},
		"hyperdrive, ssl-mode":   {"SVC_HYPERDRIVE=a1=mysql://u:p@db.example/shop?ssl-mode=PREFERRED", `a1: ssl-mode is "PREFERRED": want DISABLED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY`},
		"hyperdrive, sslmode":    {"SVC_HYPERDRIVE=a1=postgres://u:p@db.example/shop?sslmode=prefer", `a1: sslmode is "prefer": want disable, require, verify-ca or verify-full`},
		"hyperdrive, sslcert":    {"SVC_HYPERDRIVE=a1=postgres://u:p@db.example/shop?sslcert=/me.pem", "a1: sslcert has no meaning here"},
		"hyperdrive, no name":    {"SVC_HYPERDRIVE=a1=postgres://u:p@db.example", "want pairs such as id=postgres"},
		"cache off":              {"SVC_CACHE_SIZE=off", ""},
		"cache without a size":   {"SVC_CACHE_SIZE=0", "want a size such as 64MiB, or off"},
		"outbound prefix":        {"SVC_WORKER_ALLOW=10.1.2.3/8,fd00::1", ""},
		"outbound name":          {"SVC_WORKER_DENY=example.com", `"example.com" is not an IP address or prefix`},
		"confine":                {"SVC_WORKER_CONFINE=require", ""},
		"confine, unknown":       {"SVC_WORKER_CONFINE=yes", "want one of auto, require, off"},
		"isolation":              {"SVC_ISOLATION=user SVC_ISOLATION_UIDS=100000-165535", ""},
		"isolation, unknown":     {"SVC_ISOLATION=gvisor", "want one of process, user"},
		"isolation, no range":    {"SVC_ISOLATION_UIDS=7", "want FIRST-LAST"},
		"isolation of pods":      {"SVC_ISOLATION=user SVC_RUNTIME=kubernetes S3_ENDPOINT=http://s3.example S3_ACCESS_KEY_ID=a S3_SECRET_ACCESS_KEY=b", "a pod runs one version"},
		"memory":                 {"SVC_WORKER_MEMORY_MB=64 SVC_WORKER_MEMORY_MAX_MB=0", ""},
		"memory, too little":     {"SVC_WORKER_MEMORY_MB=63", "SVC_WORKER_MEMORY_MB=63: want a whole number from 64"},
		"page out":               {"SVC_PAGEOUT_IDLE=5m", ""},
		"page out, never":        {"SVC_PAGEOUT_IDLE=off", ""},
		"page out, no time":      {"SVC_PAGEOUT_IDLE=soon", "SVC_PAGEOUT_IDLE=soon: want auto, off or a duration such as 10m"},
		"recycle":                {"SVC_RECYCLE_MB=200", ""},
		"recycle, too little":    {"SVC_RECYCLE_MB=20", "SVC_RECYCLE_MB=20: want a whole number from 64"},
		"spare hosts":            {"SVC_SPARE_HOSTS=0", ""},
		"spare hosts, too many":  {"SVC_SPARE_HOSTS=17", "SVC_SPARE_HOSTS=17: want a whole number from 0"},
		"disk":                   {"SVC_VERSION_DISK_MB=0", ""},
		"disk, negative":         {"SVC_VERSION_DISK_MB=-1", "SVC_VERSION_DISK_MB=-1: want a whole number from 0"},
		"embedded outside":       {"SVC_EMBEDDED_S3_ADDR=0.0.0.0:1", "loopback"},
		"bucket with prefix":     {"RUNTIME_BUCKET=s3://data/svc", ""},
		"bucket with dots":       {"RUNTIME_BUCKET=s3://data/../svc", "part of a prefix"},
		"branch store is data":   {"BRANCH_STORE=/srv/svc SVC_DATA_DIR=/srv/svc", "BRANCH_STORE=/srv/svc holds the data directory"},
		"branch store above":     {"BRANCH_STORE=/srv SVC_DATA_DIR=/srv/svc", "holds the data directory"},
		"branch store beside":    {"BRANCH_STORE=/srv/svc-branches SVC_DATA_DIR=/srv/svc", ""},
		"branch store below":     {"BRANCH_STORE=/srv/svc/branches SVC_DATA_DIR=/srv/svc", ""},
		"durability":             {"SVC_DURABILITY=sync SVC_SYNC_WINDOW=10ms", ""},
		"durability, unknown":    {"SVC_DURABILITY=maybe", "SVC_DURABILITY=maybe: want one of async, sync"},
		"window too short":       {"SVC_SYNC_WINDOW=9ms", "SVC_SYNC_WINDOW=9ms: want a duration from 10ms to 1m"},
		"window too long":        {"SVC_SYNC_WINDOW=61s", "want a duration from 10ms to 1m"},
		"lease":                  {"SVC_LEASE_TTL=1s", ""},
		"lease too short":        {"SVC_LEASE_TTL=900ms", "SVC_LEASE_TTL=900ms: want a duration from 1s to 5m"},
		"window off":             {"SVC_SYNC_WINDOW=off", "want a duration from 10ms to 1m"},
		"grace too short":        {"SVC_GC_GRACE=900ms", "SVC_GC_GRACE=900ms: want a duration from 1"},
		"grace too long":         {"SVC_GC_GRACE=31d", "SVC_GC_GRACE=31d: want"},
		"grace":                  {"SVC_GC_GRACE=1m SVC_GC_EVERY=1s", ""},
		"grace of few leases":    {"SVC_GC_GRACE=1m SVC_LEASE_TTL=16s", "SVC_GC_GRACE=1m0s is less than four times SVC_LEASE_TTL=16s"},
		"history":                {"SVC_HISTORY=1h/1d/7d", ""},
		"history with a limit":   {"SVC_HISTORY=0/1d/7d/20GiB", ""},
		"no history":             {"SVC_HISTORY=off", ""},
		"history of nothing":     {"SVC_HISTORY=0/0/0", "SVC_HISTORY=0/0/0: want off, or how long"},
		"history of one time":    {"SVC_HISTORY=7d", "SVC_HISTORY=7d: want off, or how long"},
		"history without size":   {"SVC_HISTORY=1h/1d/7d/much", "want off, or how long"},
		"history too long":       {"SVC_HISTORY=1h/1d/401d", "at most 400d"},
		"sweeps off":             {"SVC_GC_EVERY=off", "SVC_GC_EVERY=off: want a duration from 1s to 24h0m0s"},
		"window is no duration":  {"SVC_SYNC_WINDOW=soon", "want a duration such as"},
		"engine, loops":          {"SVC_GATEWAY_ENGINE=loop", ""},
		"engine, goroutines":     {"SVC_GATEWAY_ENGINE=go", ""},
		"engine, unknown":        {"SVC_GATEWAY_ENGINE=nginx", "SVC_GATEWAY_ENGINE=nginx: want one of loop, go"},
		"engine, removed":        {"SVC_GATEWAY_ENGINE=std", "SVC_GATEWAY_ENGINE=std is no longer in the program: leave the setting out, or use go or loop"},
		"refs":                   {"SVC_PR_REFS=refs/changes/*,review-*", ""},
		"refs with a glob":       {"SVC_PR_REFS=refs/pull/[0-9]*", "only * is special"},
		"refs with a gap":        {"SVC_PR_REFS=pr/*,,pull/*", "SVC_PR_REFS=pr/*,,pull/*"},
		"scrub without SQL":      {"SVC_PROD_FORK=scrub", "SVC_PROD_FORK=scrub needs a usable SVC_SCRUB_SQL"},
		"scrub without file":     {"SVC_PROD_FORK=scrub SVC_SCRUB_SQL=/nowhere/scrub.sql", "SVC_SCRUB_SQL=/nowhere/scrub.sql: open /nowhere/scrub.sql"},
		"scrub of a directory":   {"SVC_SCRUB_SQL=/", "SVC_SCRUB_SQL=/: "},
		"production for all":     {"SVC_PROD_FORK=allow", ""},
		"bad bucket":             {"SVC_ARTIFACTS_BUCKET=No", "bucket name"},
		"template without ids":   {"SVC_PREVIEW_URL_TEMPLATE={scheme}://{baseDomain} SVC_QUEUE_MAX=x", "SVC_PREVIEW_URL_TEMPLATE"},
		"flat template":          {"SVC_PREVIEW_URL_TEMPLATE={scheme}://{version}--{project}.{baseDomain}:{port}", ""},
		"origin":                 {"GATEWAY_URL=https://gw.example.com/", ""},
		"origin with path":       {"GATEWAY_URL=https://gw.example.com/apps", "without a path"},
		"origin with wild port":  {"GATEWAY_URL=http://gw.example.com:70000", "65535"},
	} {
		_, err := load(t, strings.Fields(tc.env)...)
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}

// spec: [C16.16]
func TestBranchStore(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]config.BranchStore{
		"":                           {},
		"s3://svc-branches":          {Bucket: "svc-branches"},
		"s3://svc-branches/":         {Bucket: "svc-branches"},
		"s3://svc-branches/eu/prod":  {Bucket: "svc-branches", Prefix: "eu/prod/"},
		"s3://svc-branches/eu/prod/": {Bucket: "svc-branches", Prefix: "eu/prod/"},
		"/srv/branches/":             {Dir: "/srv/branches"},
		"/srv/x/../branches":         {Dir: "/srv/branches"},
		"file:///srv/my%20branches":  {Dir: "/srv/my branches"},
	} {
		if d, err := load(t, "BRANCH_STORE="+in); err != nil || d.BranchStore != want {
			t.Errorf("%q: %+v, %v", in, d, err)
		}
	}
	for _, bad := range []string{
		"svc-branches", "./branches", "/", "file://branches", "file://host/srv/branches", "file:/srv/branches", "file:///srv/%zz", "s3:/svc-branches",
		"s3://", "s3://No", "s3://svc-branches//x", "s3://svc-branches/../x", "s3://svc-branches/x?region=eu", "gs://svc-branches/x", "https://store.example/x",
	} {
		if _, err := load(t, "BRANCH_STORE="+bad); err == nil || !strings.Contains(err.Error(), "BRANCH_STORE="+bad+": ") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestScrubFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "scrub.sql")
	for text, want := range map[string]string{
		"update users set mail = 'x' || id;\n":          "",
		"-- database: shop/orders\nupdate t set a = 1;": "",
		"-- database: orders\nupdate t set a = 1;":      "names no database",
		" \n":                        "the SQL has no statement",
		"":                           "the SQL has no statement",
		"update t set a = '\xff'":    "no text",
		"update t set a = '\x00'":    "no text",
		strings.Repeat(" ", 1<<20+1): "more than 1048576 bytes",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := load(t, "SVC_PROD_FORK=scrub", "SVC_SCRUB_SQL="+file)
		switch {
		case want == "" && (err != nil || d.ScrubSQL != text || d.Forks.Production != svc.ProdForkScrub):
			t.Errorf("%q: %v", text, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
}

func TestDuration(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]time.Duration{"90": 90 * time.Second, "0": 0, "off": 0, "1d12h": 36 * time.Hour} {
		if got, err := config.Duration(in); err != nil || got != want {
			t.Errorf("%s = %v, %v", in, got, err)
		}
	}
	for _, bad := range []string{"", "-1", "soon"} {
		if d, err := config.Duration(bad); err == nil {
			t.Errorf("%q = %v", bad, d)
		}
	}
}

func TestClientFindsItsDaemon(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	note, err := json.Marshal(config.Note{PID: os.Getpid(), API: "http://127.0.0.1:4000", DeployToken: "d", AdminToken: "a"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config.NotePath(dir), note, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.LoadClient([]string{"SVC_DATA_DIR=" + dir}, config.ClientFlags{})
	if err != nil || c.Server != "http://127.0.0.1:4000" || c.AdminToken.Reveal() != "a" {
		t.Errorf("%+v, %v", c, err)
	}
	c, err = config.LoadClient([]string{"SVC_DATA_DIR=" + dir, "SVCCTL_SERVER=http://127.0.0.1:4000/"}, config.ClientFlags{})
	if err != nil || c.Server != "http://127.0.0.1:4000" || c.DeployToken.Reveal() != "d" {
		t.Errorf("named with a slash: %+v, %v", c, err)
	}
	if _, err := config.LoadClient(nil, config.ClientFlags{Server: "http://me:hunter2@elsewhere.example"}); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("a server with credentials: %v", err)
	}
	c, err = config.LoadClient([]string{"SVC_DATA_DIR=" + dir}, config.ClientFlags{Server: "https://elsewhere.example"})
	if err != nil || c.AdminToken != "" {
		t.Errorf("the token of the local daemon would go to %s", c.Server)
	}
}

// TestRootFindsTheService: svcctl of root finds the daemon of the machine, and a daemon
// that runs wins over one that does not.
func TestRootFindsTheService(t *testing.T) {
	t.Parallel()
	home := map[string]string{"HOME": "/root"}
	own := "/root/.local/state/svcd"
	for _, tc := range []struct {
		env  map[string]string
		uid  int
		want []string
	}{
		{home, 0, []string{own, config.ServiceDataDir}},
		{home, 1000, []string{own}},
		{map[string]string{"SVC_DATA_DIR": "/data"}, 0, []string{"/data"}},
	} {
		if got := config.DataDirs(tc.env, tc.uid); !slices.Equal(got, tc.want) {
			t.Errorf("%v as %d: %v", tc.env, tc.uid, got)
		}
	}
	gone, alive := t.TempDir(), t.TempDir()
	for dir, note := range map[string]config.Note{gone: {PID: 1 << 30, API: "http://gone"}, alive: {PID: os.Getpid(), API: "http://alive"}} {
		text, err := json.Marshal(note)
		if err == nil {
			err = os.WriteFile(config.NotePath(dir), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		dirs []string
		want string
	}{{[]string{gone, alive}, "http://alive"}, {[]string{t.TempDir(), gone}, "http://gone"}} {
		if note, err := config.FindNote(tc.dirs); err != nil || note.API != tc.want {
			t.Errorf("%v: %+v, %v", tc.dirs, note, err)
		}
	}
	if _, err := config.FindNote([]string{t.TempDir()}); err == nil {
		t.Error("a note was found where none is")
	}
}

// TestServiceLinks: the variables that Kubernetes sets for a Service named svc are
// explained.
func TestServiceLinks(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"SVC_PORT", "SVC_PORT_80_TCP_ADDR", "SVC_SERVICE_HOST", "SVC_SERVICE_PORT_HTTP", "SVC_API_PORT_8790_TCP"} {
		if _, err := load(t, name+"=tcp://10.0.0.7:80"); err == nil || !strings.Contains(err.Error(), name+": unknown setting, which Kubernetes") || !strings.Contains(err.Error(), "enableServiceLinks: false") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := load(t, "SVC_PORTS=1"); err == nil || strings.Contains(err.Error(), "Kubernetes") {
		t.Error(err)
	}
}

// TestArchive: the settings of idle archiving, with their units.
// spec: [C16.21] [C16.22] [C16.23] [C16.24]
func TestReleaseLimits(t *testing.T) {
	t.Parallel()
	for want, env := range map[config.Release][]string{
		{Hold: 4 * time.Second, Drain: 2 * time.Second}:    nil,
		{Hold: time.Minute, Drain: 500 * time.Millisecond}: {"SVC_RELEASE_HOLD=1m", "SVC_RELEASE_DRAIN=500ms"},
	} {
		if d, err := load(t, env...); err != nil || d.Release != want {
			t.Errorf("%v: %+v, %v", env, d.Release, err)
		}
	}
}

func TestArchive(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		env       []string
		want      config.Archive
		idleAfter time.Duration
	}{
		{nil, config.Archive{Idle: 72 * time.Hour, Grace: 24 * time.Hour, Reaper: true, RollbackKeep: 1}, 72 * time.Hour},
		{
			[]string{"SVC_ARCHIVE_IDLE=90", "SVC_ARCHIVE_GRACE=1d12h", "SVC_ROLLBACK_KEEP=3"},
			config.Archive{Idle: 90 * time.Second, Grace: 36 * time.Hour, Reaper: true, RollbackKeep: 3},
			90 * time.Second,
		},
		{
			[]string{"SVC_ARCHIVE_REAPER=0", "SVC_ROLLBACK_KEEP=false"},
			config.Archive{Idle: 72 * time.Hour, Grace: 24 * time.Hour},
			0,
		},
		{
			[]string{"SVC_ARCHIVE_IDLE=off", "SVC_ARCHIVE_GRACE=0", "SVC_ROLLBACK_KEEP=true"},
			config.Archive{Reaper: true, RollbackKeep: 1},
			0,
		},
	} {
		d, err := load(t, tc.env...)
		if err != nil || d.Archive != tc.want || d.Archive.IdleAfter() != tc.idleAfter {
			t.Errorf("%v: %+v, %v", tc.env, d, err)
		}
	}
}

func TestTableIsComplete(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, s := range config.DaemonSettings() {
		if seen[s.Env] || s.Help == "" {
			t.Errorf("%s: twice, or without help", s.Env)
		}
		seen[s.Env] = true
	}
	const contract = `SVC_DEPLOY_TOKEN SVC_ADMIN_TOKEN PLATFORM_TOKEN SVC_REGISTRY_DB PLATFORM_PORT GATEWAY_PORT GATEWAY_URL
		SVC_GATEWAY_VERIFY_URL SVC_INGRESS_BASE_DOMAIN SVC_PUBLIC_SCHEME_PREVIEW SVC_PUBLIC_SCHEME_PROD SVC_PREVIEW_URL_TEMPLATE
		S3_ENDPOINT S3_ACCESS_KEY_ID S3_SECRET_ACCESS_KEY S3_REGION SVC_ARTIFACTS_BUCKET RUNTIME_BUCKET BRANCH_STORE ARTIFACTS_DIR
		SVC_LENIENT_DEPLOY SVC_QUEUE_MAX SVC_ORCH_WORKERS SVC_ARCHIVE_IDLE SVC_ARCHIVE_GRACE SVC_ARCHIVE_REAPER SVC_ROLLBACK_KEEP SVC_ELASTIC_RUNTIME`
	for name := range strings.FieldsSeq(contract) {
		if !seen[name] {
			t.Errorf("%s of the contract's operator table is missing", name)
		}
	}
}

func TestNoteOfADeadDaemon(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	note, err := json.Marshal(config.Note{PID: cmd.Process.Pid, API: "http://127.0.0.1:4000", AdminToken: "a"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config.NotePath(dir), note, 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := config.LoadClient([]string{"SVC_DATA_DIR=" + dir}, config.ClientFlags{}); err != nil || c.AdminToken != "" || c.Server != config.DefaultServer {
		t.Errorf("the token of a dead daemon would go to %s (%v)", c.Server, err)
	}
}
