package config

import (
	"net/netip"

	"github.com/svcctl/svcctl/internal/svc"
)

// webhookAllow is the setting of the private networks that webhooks reach.
func webhookAllow() Setting {
	return Setting{
		Env: "SVC_WEBHOOK_ALLOW", Help: "private addresses that webhooks reach beside public ones: prefixes such as 10.1.0.0/16, with commas between",
		parse: func(d *Daemon, v string) error {
			list, err := prefixes(v)
			for _, p := range list {
				d.WebhookAllow = append(d.WebhookAllow, netip.MustParsePrefix(p)) // it was parsed before
			}
			return err
		},
	}
}

func deploys() []Setting {
	return []Setting{
		{
			Env: "SVC_ORCH_WORKERS", Default: "1", Help: "deploys at the same time",
			parse: func(d *Daemon, v string) (err error) { d.OrchWorkers, err = between(v, 1, 64); return err },
		},
		{
			Env: "SVC_QUEUE_MAX", Default: "10000", Help: "queued deploys from which create-version answers 503",
			parse: func(d *Daemon, v string) (err error) { d.QueueMax, err = between(v, 1, 1_000_000); return err },
		},
		{
			Env: "SVC_LENIENT_DEPLOY", Help: "1: a failed step becomes a warning and the deploy continues; for local debugging only",
			parse: func(d *Daemon, v string) (err error) { d.Lenient, err = boolean(v); return err },
		},
		{
			Env: "SVC_ELASTIC_RUNTIME", Help: "1: unsupported internal scaffold; a deploy passes deploy_ready, in which its worker is asked as production, before it is ready",
			parse: func(d *Daemon, v string) (err error) { d.Elastic, err = boolean(v); return err },
		},
		{
			Env: "SVC_ARTIFACT_WAIT", Default: "60s", Help: "how long a deploy waits for its bundle",
			parse: func(d *Daemon, v string) (err error) { d.ArtifactWait, err = Duration(v); return err },
		},
		{
			Env: "SVC_MAX_MODULES_SIZE", Default: "64MiB", Help: "modules of a bundle, unpacked",
			parse: func(d *Daemon, v string) (err error) { d.Limits.Modules, err = Size(v); return err },
		},
		{
			Env: "SVC_MAX_ASSET_SIZE", Default: "25MiB", Help: "one asset of a bundle",
			parse: func(d *Daemon, v string) (err error) { d.Limits.Asset, err = Size(v); return err },
		},
		{
			Env: "SVC_MAX_BUNDLE_SIZE", Default: "512MiB", Help: "a whole bundle, unpacked",
			parse: func(d *Daemon, v string) (err error) { d.Limits.Total, err = Size(v); return err },
		},
		{
			Env: "SVC_MAX_BUNDLE_FILES", Default: "20000", Help: "files in a bundle",
			parse: func(d *Daemon, v string) (err error) { d.Limits.Files, err = between(v, 1, 1_000_000); return err },
		},
	}
}

func workers() []Setting {
	return []Setting{
		{
			Env: "SVC_WORKERD", Help: "the workerd binary; default: the cache, else installed with npm",
			parse: func(d *Daemon, v string) (err error) { d.Workerd, err = absolute(v); return err },
		},
		{
			Env: "SVC_WORKER_HEAP_MB", Default: "128", Help: "JavaScript heap of one version, MiB",
			parse: func(d *Daemon, v string) (err error) { d.WorkerHeapMB, err = between(v, 16, 65536); return err },
		},
		{
			Env: "SVC_WORKER_MEMORY_MB", Default: "512", Help: "memory of one version, worker and host together, MiB; 0 for no limit",
			parse: func(d *Daemon, v string) (err error) { d.WorkerMemoryMB, err = memory(v); return err },
		},
		{
			Env: "SVC_WORKER_MEMORY_MAX_MB", Default: "1024", Help: "highest limits.memory_mb of a project file, MiB; 0 for any",
			parse: func(d *Daemon, v string) (err error) { d.WorkerMemoryMaxMB, err = memory(v); return err },
		},
		{
			Env: "SVC_WORKER_SUBREQUESTS", Default: "1000", Help: "calls of fetch that one invocation of a worker may make; 0 for no limit",
			parse: func(d *Daemon, v string) (err error) { d.WorkerSubrequests, err = between(v, 0, 1_000_000); return err },
		},
		{
			Env: "SVC_SPARE_HOSTS", Default: "1", Help: "worker hosts with a workerd that wait for the next version to start, from the second start on; 0 for none",
			parse: func(d *Daemon, v string) (err error) { d.SpareHosts, err = between(v, 0, 16); return err },
		},
		{
			Env: "SVC_ALLOW_ROOT", Help: "1: run as root beyond loopback even if the kernel cannot confine workerd",
			parse: func(d *Daemon, v string) (err error) { d.AllowRoot, err = boolean(v); return err },
		},
		{
			Env: "SVC_WORKER_CONFINE", Default: "auto", Help: "confine workerd to the files and system calls that it needs: auto (as far as the kernel can), require or off",
			parse: func(d *Daemon, v string) error {
				v, err := oneOf(v, string(svc.ConfineAuto), string(svc.ConfineRequire), string(svc.ConfineOff))
				d.WorkerConfine = svc.Confine(v)
				return err
			},
		},
		{
			Env: "SVC_ISOLATION", Default: "process", Help: "user of workerd: process (that of the server) or user (one of its own for each workerd, so that it reaches no file, socket and process of another version; the server must be root or have capabilities)",
			parse: func(d *Daemon, v string) error {
				v, err := oneOf(v, "process", "user")
				d.Isolates = v == "user"
				return err
			},
		},
		{
			Env: "SVC_ISOLATION_UIDS", Default: "1900000000-1900065535", Help: "uids for SVC_ISOLATION=user, FIRST-LAST, with the gids of the same numbers; nothing else may use them",
			parse: func(d *Daemon, v string) (err error) { d.IsolationUIDs, err = svc.ParseIsolation(v); return err },
		},
		{
			Env: "SVC_VERSION_DISK_MB", Default: "10240", Help: "disk space of one version for databases, objects in the embedded object store, caches and logs, MiB; 0 for no limit",
			parse: func(d *Daemon, v string) (err error) { d.VersionDiskMB, err = between(v, 0, 1<<30); return err },
		},
		{
			Env: "SVC_MAX_QUEUE_MESSAGES", Default: "1000000", Help: "messages that one queue of a version may have, delayed and dead ones included; 0 for no limit",
			parse: func(d *Daemon, v string) (err error) { d.MaxQueueMessages, err = between(v, 0, 1<<31-1); return err },
		},
		{
			Env: "SVC_WORKER_ALLOW", Help: "addresses that workers reach beside public ones: prefixes such as 10.1.0.0/16, with commas between",
			parse: func(d *Daemon, v string) (err error) { d.WorkerNetwork.Allow, err = prefixes(v); return err },
		},
		webhookAllow(),
		{
			Env: "SVC_WORKER_DENY", Help: "addresses that workers do not reach: prefixes such as 1.1.1.1/32, with commas between",
			parse: func(d *Daemon, v string) (err error) { d.WorkerNetwork.Deny, err = prefixes(v); return err },
		},
		{
			Env: "SVC_CACHE_SIZE", Default: "256MiB", Help: "disk space of the Cache API of one version, of which a sixteenth is in memory, at most 16 MiB; off stores nothing",
			parse: func(d *Daemon, v string) (err error) { d.CacheSize, err = sizeOrOff(v); return err },
		},
		{
			Env: "SVC_WORKER_START_TIMEOUT", Default: "10s", Help: "how long a worker may take to listen",
			parse: func(d *Daemon, v string) (err error) { d.WorkerStartTimeout, err = Duration(v); return err },
		},
		{
			Env: "SVC_WORKER_START_CPU", Default: "5s", Help: "CPU time that a worker may use before it listens",
			parse: func(d *Daemon, v string) (err error) { d.WorkerStartCPU, err = Duration(v); return err },
		},
	}
}

// logs are the settings of the daemon's own log.
func logs() []Setting {
	return []Setting{
		{
			Env: "SVC_LOG_LEVEL", Flag: "log-level", Default: "info", Help: "debug, info, warn or error",
			parse: func(d *Daemon, v string) error {
				if _, err := oneOf(v, "debug", "info", "warn", "error"); err != nil {
					return err
				}
				return d.LogLevel.UnmarshalText([]byte(v))
			},
		},
		{
			Env: "SVC_LOG_FORMAT", Flag: "log-format", Default: "auto", Help: "json, text, journal (records of systemd's journal with fields), or auto: text on a terminal",
			parse: func(d *Daemon, v string) (err error) {
				d.LogFormat, err = oneOf(v, "auto", "json", "text", "journal")
				return err
			},
		},
	}
}

// forks are the settings of the rule about pull requests and production [D23].
func forks() []Setting {
	return []Setting{
		{
			Env: "SVC_PR_REFS", Default: "refs/pull/*,refs/merge-requests/*,pull/*,pr/*",
			Help:  "git refs that are pull requests', with commas between; * stands for any text",
			parse: func(d *Daemon, v string) (err error) { d.Forks.PRRefs, err = refPatterns(v); return err },
		},
		{
			Env: "SVC_PROD_FORK", Default: "reject", Help: "what a pull request gets that names live production as its parent: reject, scrub or allow",
			parse: func(d *Daemon, v string) error {
				v, err := oneOf(v, string(svc.ProdForkReject), string(svc.ProdForkScrub), string(svc.ProdForkAllow))
				d.Forks.Production = svc.ProdFork(v)
				return err
			},
		},
		{
			Env: "SVC_SCRUB_SQL", Help: "file of the SQL that runs on the databases of such a fork with scrub, before it serves",
			parse: func(d *Daemon, v string) (err error) { d.ScrubSQL, err = scrubFile(v); return err },
		},
	}
}

// archiving are the settings of idle archiving and of rollbacks [D24].
func archiving() []Setting {
	return []Setting{
		{
			Env: "SVC_ARCHIVE_IDLE", Default: "72h", Help: "time without use after which a version is archived that is neither production nor pinned; 0 or off for never",
			parse: func(d *Daemon, v string) (err error) { d.Archive.Idle, err = Duration(v); return err },
		},
		{
			Env: "SVC_ARCHIVE_GRACE", Default: "24h", Help: "time after a promote before idle archiving may archive the version that was production",
			parse: func(d *Daemon, v string) (err error) { d.Archive.Grace, err = Duration(v); return err },
		},
		{
			Env: "SVC_KEEP_FAILED", Default: "off", Help: "failed versions of a project that stay: an age (7d), a number (20) or both (7d,20); older ones and those beyond the number are destroyed",
			parse: func(d *Daemon, v string) (err error) { d.KeepFailed, err = keep(v); return err },
		},
		{
			Env: "SVC_KEEP_ARCHIVED", Default: "off", Help: "archived versions of a project that stay, as SVC_KEEP_FAILED; pinned ones always stay",
			parse: func(d *Daemon, v string) (err error) { d.KeepArchived, err = keep(v); return err },
		},
		{
			Env: "SVC_SLEEP_IDLE", Default: "off", Help: "time without use after which a ready version has no processes until it is asked for or has work to do; 0 or off for never",
			parse: func(d *Daemon, v string) (err error) { d.Sleep.Idle, err = Duration(v); return err },
		},
		{
			Env: "SVC_SLEEP_PRODUCTION", Default: "0", Help: "1 lets production versions sleep, too",
			parse: func(d *Daemon, v string) (err error) { d.Sleep.Production, err = boolean(v); return err },
		},
		{
			Env: "SVC_PAGEOUT_IDLE", Default: "auto", Help: "time without use after which the memory of a version's processes is moved to swap (Linux); auto is 10m where the machine has swap and off elsewhere; 0 or off for never",
			parse: func(d *Daemon, v string) (err error) { d.PageOut, err = pageOut(v); return err },
		},
		{
			Env: "SVC_RECYCLE_MB", Default: "0", Help: "memory in MiB of the processes of a version above which they are replaced when nothing has used the version for a minute: its worker loses what it keeps in memory; 0 for never",
			parse: func(d *Daemon, v string) (err error) { d.RecycleMB, err = memory(v); return err },
		},
		{
			Env: "SVC_ARCHIVE_REAPER", Default: "1", Help: "0 turns idle archiving off",
			parse: func(d *Daemon, v string) (err error) { d.Archive.Reaper, err = boolean(v); return err },
		},
		{
			Env: "SVC_RELEASE_HOLD", Default: "4s", Help: "longest time that requests of production wait for a release; one that takes longer is undone",
			parse: func(d *Daemon, v string) (err error) { d.Release.Hold, err = positiveDuration(v); return err },
		},
		{
			Env: "SVC_RELEASE_DRAIN", Default: "2s", Help: "time for requests and events in flight to end in the hold of a release",
			parse: func(d *Daemon, v string) (err error) { d.Release.Drain, err = positiveDuration(v); return err },
		},
		{
			Env: "SVC_ROLLBACK_KEEP", Default: "1", Help: "number of previous production versions that a promote pins, 0 to 1000; true is 1, false is 0",
			parse: func(d *Daemon, v string) (err error) { d.Archive.RollbackKeep, err = countOrBool(v); return err },
		},
	}
}
