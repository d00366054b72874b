package config

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/lib/keyring"
	"github.com/svcctl/svcctl/internal/svc"
)

// Setting is one row of the table of the daemon's settings.
type Setting struct {
	Env     string // the variable, as in the contract's operator table or [D49]
	Flag    string // "" when the setting has no flag
	Default string
	Help    string
	Secret  bool // never printed
	parse   func(*Daemon, string) error
}

// Key is the setting's name in the config file.
func (s Setting) Key() string { return strings.ToLower(s.Env) }

// shown is what a message may repeat of a refused value: nothing of a secret, nor
// of a URL that carries credentials where none belong.
func (s Setting) shown(value string) string {
	if s.Secret || strings.Contains(value, "@") {
		return "[redacted]"
	}
	return value
}

// DaemonSettings is every setting of the daemon, in the order of the reference.
func DaemonSettings() []Setting {
	return slices.Concat(tokens(), network(), visitors(), ownDomains(), encryption(), gateways(), clients(), storage(), collection(), deploys(), hosts(), workers(), backends(), logs(), traces(), forks(), archiving())
}

func tokens() []Setting {
	return []Setting{
		{
			Env: "SVC_DEPLOY_TOKEN", Secret: true, Help: "credential of CI: create versions, nothing else",
			parse: func(d *Daemon, v string) error { d.DeployToken = svc.Secret(v); return nil },
		},
		{
			Env: "SVC_ADMIN_TOKEN", Secret: true, Help: "credential of every other authenticated call",
			parse: func(d *Daemon, v string) error { d.AdminToken = svc.Secret(v); return nil },
		},
		{
			Env: "SVC_TOKENS_FILE", Help: "file of named tokens with the roles deploy, admin, read and gateway, valid beside the others; read again when it changes",
			parse: func(d *Daemon, v string) (err error) { d.TokensFile, err = absolute(v); return err },
		},
		{
			Env: "PLATFORM_TOKEN", Secret: true, Help: "legacy: used for each of the two above that is unset",
			parse: func(d *Daemon, v string) error { d.LegacyToken = svc.Secret(v); return nil },
		},
	}
}

func network() []Setting {
	return []Setting{
		{
			Env: "SVC_LISTEN_HOST", Flag: "listen", Default: "127.0.0.1", Help: "address to listen at; anything but loopback needs tokens set by the operator",
			parse: func(d *Daemon, v string) error { d.ListenHost = v; return nil },
		},
		{
			Env: "PLATFORM_PORT", Flag: "port", Default: "8790", Help: "port of the REST API; 0 chooses a free one",
			parse: func(d *Daemon, v string) (err error) { d.APIPort, err = port(v); return err },
		},
		{
			Env: "GATEWAY_PORT", Flag: "gateway-port", Default: "8787", Help: "port of user traffic; 0 chooses a free one",
			parse: func(d *Daemon, v string) (err error) { d.GatewayPort, err = port(v); return err },
		},
	}
}

// ownDomains are the host names outside of the base domain.
func ownDomains() []Setting {
	return []Setting{
		{
			Env: "SVC_DOMAINS", Default: "off", Help: "on: projects may have host names of other domains (svcctl domains)",
			parse: func(d *Daemon, v string) error {
				v, err := oneOf(v, "on", "off")
				d.Domains = v == "on"
				return err
			},
		},
		{
			Env: "SVC_DOMAINS_DNS", Help: "name server, host:port, that is asked for the records that prove host names of other domains; default: those of the system",
			parse: func(d *Daemon, v string) (err error) { d.DomainsDNS, err = address(v); return err },
		},
	}
}

// visitors are how the gateway answers.
func visitors() []Setting {
	return []Setting{
		{
			Env: "SVC_GATEWAY_ENGINE", Default: "loop", Help: "HTTP implementation of the gateway: loop (its own, with event loops; on other systems than Linux it is go) or go (the same with goroutines)",
			parse: func(d *Daemon, v string) (err error) {
				if v == "std" {
					return removedError("leave the setting out, or use go or loop")
				}
				d.GatewayEngine, err = oneOf(v, "loop", "go")
				return err
			},
		},
		{
			Env: "SVC_TRUSTED_PROXIES", Help: "proxies before the gateway whose X-Forwarded-* headers are believed, and CF-IPCountry and the like: addresses and prefixes with commas between; default: loopback, for X-Forwarded-* alone; off for none",
			parse: func(d *Daemon, v string) (err error) { d.TrustedProxies, err = proxies(v); return err },
		},
		{
			Env: "SVC_ACCESS_LOG", Help: "file with a line for each request of the gateway; SIGHUP opens it again; default: none",
			parse: func(d *Daemon, v string) error { d.AccessLog = v; return nil },
		},
		{
			Env: "SVC_ACCESS_LOG_FORMAT", Default: "json", Help: "format of SVC_ACCESS_LOG: json or combined (of Apache and nginx)",
			parse: func(d *Daemon, v string) (err error) {
				d.AccessLogFormat, err = oneOf(v, "json", "combined")
				return err
			},
		},
		{
			Env: "SVC_GEOIP_DB", Help: "files of MaxMind databases (City, Country, ASN) for the location in request.cf, with commas between",
			parse: func(d *Daemon, v string) (err error) { d.GeoIP, err = files(v); return err },
		},
		{
			Env: "GATEWAY_URL", Help: "public origin of the gateway, for generated URLs; default: its own address",
			parse: func(d *Daemon, v string) (err error) { d.GatewayURL, err = httpOrigin(v); return err },
		},
		{
			Env: "SVC_API_URL", Help: "public origin of the API, for generated URLs; default: the address that the client used",
			parse: func(d *Daemon, v string) (err error) { d.APIURL, err = httpOrigin(v); return err },
		},
		{
			Env: "SVC_API_HOSTS", Help: "host names of the API beside that of SVC_API_URL, with commas between; addresses and names without a dot are always accepted",
			parse: func(d *Daemon, v string) (err error) { d.APIHosts, err = domains(v); return err },
		},
		{
			Env: "SVC_GATEWAY_VERIFY_URL", Help: "base URL of an HTTP probe through the gateway after each deploy",
			parse: func(d *Daemon, v string) (err error) { d.GatewayVerifyURL, err = httpURL(v); return err },
		},
		{
			Env: "SVC_INGRESS_BASE_DOMAIN", Flag: "base-domain", Default: "ingress.local", Help: "DNS suffix of preview and production hosts",
			parse: func(d *Daemon, v string) (err error) { d.BaseDomain, err = domain(v); return err },
		},
		{
			Env: "SVC_PUBLIC_SCHEME_PREVIEW", Help: "http or https in preview_url; default: as in GATEWAY_URL",
			parse: func(d *Daemon, v string) (err error) { d.SchemePreview, err = oneOf(v, "http", "https"); return err },
		},
		{
			Env: "SVC_PUBLIC_SCHEME_PROD", Help: "http or https in prod_url; default: as in GATEWAY_URL",
			parse: func(d *Daemon, v string) (err error) { d.SchemeProd, err = oneOf(v, "http", "https"); return err },
		},
		{
			Env: "SVC_PREVIEW_URL_TEMPLATE", Help: "preview URLs, of {scheme} {version} {project} {baseDomain} {port}",
			parse: func(d *Daemon, v string) error { d.PreviewTemplate = v; return nil },
		},
		{
			Env: "SVC_PREVIEW_ERRORS", Default: "full", Help: "what preview hosts answer when the worker throws: full (the exception, its stack and the command that shows the log of the request) or off (Internal Server Error, as production)",
			parse: func(d *Daemon, v string) error {
				v, err := oneOf(v, "full", "off")
				d.PreviewErrors = v == "full"
				return err
			},
		},
	}
}

// compression is the setting of the gateway's own encodings.
func compression() Setting {
	return Setting{
		Env: "SVC_COMPRESSION", Default: "1", Help: "whether the gateway compresses text of at least 1 KB with zstd, br or gzip for clients that accept it",
		parse: func(d *Daemon, v string) (err error) { d.Compression, err = boolean(v); return err },
	}
}

// clients are the limits for slow and for many clients.
func clients() []Setting {
	return []Setting{
		compression(),
		{
			Env: "SVC_CLIENT_TIMEOUT", Default: "60s", Help: "time without a byte after which a client is disconnected that sends a body or reads a response, 1s to 1h; also the limit for a websocket handshake",
			parse: func(d *Daemon, v string) (err error) {
				d.Clients.Timeout, err = within(v, time.Second, time.Hour)
				return err
			},
		},
		{
			Env: "SVC_MAX_CONNECTIONS", Default: "16384", Help: "maximum number of client connections to the gateway; fewer if the limit of open files requires it",
			parse: func(d *Daemon, v string) (err error) { d.Clients.Total, err = between(v, 16, 1_000_000); return err },
		},
		{
			Env: "SVC_MAX_CONNECTIONS_PER_CLIENT", Default: "1024", Help: "maximum number of connections to the gateway from one IPv4 address or IPv6 /64 network; loopback addresses have no such limit",
			parse: func(d *Daemon, v string) (err error) { d.Clients.PerClient, err = between(v, 1, 1_000_000); return err },
		},
		{
			Env: "SVC_MAX_CONNECTIONS_PER_VERSION", Default: "4096", Help: "maximum number of requests and websockets that one version serves at the same time; at most three quarters of SVC_MAX_CONNECTIONS",
			parse: func(d *Daemon, v string) (err error) {
				d.Clients.PerVersion, err = between(v, 1, 1_000_000)
				return err
			},
		},
		{
			Env: "SVC_API_MAX_CONNECTIONS", Default: "1024", Help: "maximum number of connections to the API, and to the address of the embedded object store; one address may have half of those to the API, loopback addresses all",
			parse: func(d *Daemon, v string) (err error) { d.Clients.API, err = between(v, 16, 100_000); return err },
		},
	}
}

func storage() []Setting {
	return []Setting{
		{
			Env: "SVC_DATA_DIR", Flag: "data-dir", Help: "directory of everything the daemon keeps; default $XDG_STATE_HOME/svcd",
			parse: func(d *Daemon, v string) (err error) { d.DataDir, err = absolute(v); return err },
		},
		{
			Env: "SVC_REGISTRY_DB", Help: "file of the registry; default registry.db in the data directory",
			parse: func(d *Daemon, v string) (err error) { d.RegistryDB, err = absolute(v); return err },
		},
		{
			Env: "SVC_RECOVERY_KEY", Secret: true, Help: "key that encrypts the copies of the registry in S3_ENDPOINT, at least 26 characters; default: a generated one, which svcctl admin recovery-key prints",
			parse: func(d *Daemon, v string) error {
				if d.RecoveryKey = svc.Secret(v); len(v) < 26 {
					return errors.New("want at least 26 characters")
				}
				return nil
			},
		},
		{
			Env: "SVC_SECRETS_KEY", Secret: true, Help: "keys that seal the secrets of projects (svcctl secret): lines ID:KEY with 32 bytes in base64, as svcctl admin secrets key prints them; the first seals, all open; a file of it is outside of the data directory; SIGHUP reads it again; default: no secrets are kept",
			parse: func(d *Daemon, v string) (err error) { d.SecretsKey, err = keyring.Parse(v); return err },
		},
		{
			Env: "S3_ENDPOINT", Help: "object store; default: the embedded one",
			parse: func(d *Daemon, v string) (err error) { d.S3.Endpoint, err = httpURL(v); return err },
		},
		{
			Env: "S3_ACCESS_KEY_ID", Help: "access key of S3_ENDPOINT",
			parse: func(d *Daemon, v string) error { d.S3.AccessKey = v; return nil },
		},
		{
			Env: "S3_SECRET_ACCESS_KEY", Secret: true, Help: "secret key of S3_ENDPOINT",
			parse: func(d *Daemon, v string) error { d.S3.SecretKey = svc.Secret(v); return nil },
		},
		{
			Env: "S3_REGION", Help: "region to sign for; most self-hosted stores ignore it",
			parse: func(d *Daemon, v string) error { d.S3.Region = v; return nil },
		},
		{
			Env: "SVC_EMBEDDED_S3_ADDR", Default: "127.0.0.1:8791", Help: "loopback address of the embedded object store for S3 tools; off for none",
			parse: func(d *Daemon, v string) (err error) { d.EmbeddedS3Addr, err = loopback(v); return err },
		},
		{
			Env: "SVC_ARTIFACTS_BUCKET", Default: "svc-artifacts", Help: "bucket of uploaded bundles",
			parse: func(d *Daemon, v string) (err error) { d.ArtifactsBucket, err = bucketName(v); return err },
		},
		{
			Env: "RUNTIME_BUCKET", Default: "svc-runtime", Help: "bucket of the versions' own data, a name or s3://name/prefix",
			parse: func(d *Daemon, v string) (err error) {
				d.RuntimeBucket, d.RuntimePrefix, err = bucketURI(v)
				return err
			},
		},
		{
			Env: "BRANCH_STORE", Help: "records of who owns which branch: s3://bucket/prefix in the same store, or a directory; default: beside the data",
			parse: func(d *Daemon, v string) (err error) { d.BranchStore, err = branchStore(v); return err },
		},
		{
			Env: "SVC_DURABILITY", Default: "async", Help: "async: a write is acknowledged when it is on this machine, sync: when it is in the object store",
			parse: func(d *Daemon, v string) (err error) { d.Durability, err = oneOf(v, "async", "sync"); return err },
		},
		{
			Env: "SVC_SYNC_WINDOW", Default: "1s", Help: "how far the object store may be behind with async, 10ms to 1m",
			parse: func(d *Daemon, v string) (err error) {
				d.SyncWindow, err = within(v, 10*time.Millisecond, time.Minute)
				return err
			},
		},
		{
			Env: "SVC_LEASE_TTL", Default: "15s", Help: "after how long without a sign of life another host takes over a host's versions, 1s to 5m; the same for all on one store",
			parse: func(d *Daemon, v string) (err error) {
				d.LeaseTTL, err = within(v, time.Second, 5*time.Minute)
				return err
			},
		},
		{
			Env: "ARTIFACTS_DIR", Help: "directory looked at for bundles before the bucket: {dir}/{project}/{version}/bundle.tar.zst",
			parse: func(d *Daemon, v string) (err error) { d.ArtifactsDir, err = absolute(v); return err },
		},
	}
}

func collection() []Setting {
	return []Setting{
		{
			Env: "SVC_GC_GRACE", Default: "1h", Help: "grace period of unneeded objects in the object store; at least one minute",
			parse: func(d *Daemon, v string) (err error) {
				d.GCGrace, err = within(v, leastGrace, 30*24*time.Hour)
				return err
			},
		},
		{
			Env: "SVC_GC_EVERY", Default: "10m", Help: "how often the object store is swept, 1s to 1d",
			parse: func(d *Daemon, v string) (err error) {
				d.GCEvery, err = within(v, time.Second, 24*time.Hour)
				return err
			},
		},
		{
			Env: "SVC_HISTORY", Default: "off", Help: "how long every point of the past, those of each minute and those of each hour are kept, such as 1h/1d/7d or, with a limit for a version, 1h/1d/7d/20GiB; projects may keep less; off for none",
			parse: func(d *Daemon, v string) (err error) { d.History, err = history(v); return err },
		},
	}
}
