package config

import (
	"errors"
	"fmt"
	"time"
)

// Hosts says where worker hosts run.
type Hosts struct {
	Remote     bool          // on machines that join or in pods, not on this machine
	Kubernetes bool          // in pods
	Addr       string        // where machines join; "" without Remote
	Authority  string        // file of the certificate authority; "" for one in the data directory
	Silence    time.Duration // of a machine, after which its versions are opened elsewhere
	Wait       time.Duration // of a version for a host
}

// Kubernetes says how the daemon uses a cluster.
type Kubernetes struct {
	Config    string // a kubeconfig file; "" for the cluster that the daemon runs in
	Namespace string // "" for the one of the daemon or of Config
	Pod       string // name of the daemon's own pod, to label while it leads; "" for no label
	MemoryMB  int    // limit of a pod that has a version; 0 for the one of its template
	Lease     string // name of the Lease by which one of several daemons serves; "" for a single daemon
}

// hosts are the settings of where versions run.
func hosts() []Setting {
	return []Setting{
		{
			Env: "SVC_RUNTIME", Default: "local", Help: "where versions run: local (on this machine), remote (on machines that join with svcd host) or kubernetes (in pods, which do the same)",
			parse: func(d *Daemon, v string) error {
				v, err := oneOf(v, "local", "remote", "kubernetes")
				d.Hosts.Remote, d.Hosts.Kubernetes = v == "remote" || v == "kubernetes", v == "kubernetes"
				return err
			},
		},
		{
			Env: "SVC_HOSTS_ADDR", Default: "127.0.0.1:8792", Help: "address where machines join, by TLS with a certificate authority of the server's own (with SVC_RUNTIME=remote or kubernetes)",
			parse: func(d *Daemon, v string) (err error) { d.Hosts.Addr, err = address(v); return err },
		},
		{
			Env: "SVC_HOSTS_AUTHORITY", Help: "PEM file of the certificate authority for SVC_HOSTS_ADDR, its certificate and its key; default: hosts-ca.pem in the data directory, which the server makes",
			parse: func(d *Daemon, v string) (err error) { d.Hosts.Authority, err = absolute(v); return err },
		},
		{
			Env: "SVC_HOST_SILENCE", Default: "5s", Help: "time without an answer after which the versions of a machine are opened on others",
			parse: func(d *Daemon, v string) (err error) {
				d.Hosts.Silence, err = within(v, time.Second, 5*time.Minute)
				return err
			},
		},
		{
			Env: "SVC_HOST_WAIT", Default: "1m", Help: "time that a version waits for a machine with a free worker host",
			parse: func(d *Daemon, v string) (err error) {
				d.Hosts.Wait, err = within(v, time.Second, time.Hour)
				return err
			},
		},
		{
			Env: "SVC_K8S_KUBECONFIG", Help: "kubeconfig file of the cluster for SVC_RUNTIME=kubernetes and SVC_LEADER_LEASE; default: the cluster that the server runs in",
			parse: func(d *Daemon, v string) (err error) { d.Kubernetes.Config, err = absolute(v); return err },
		},
		{
			Env: "SVC_K8S_NAMESPACE", Help: "namespace of the pods with worker hosts; default: the one of the server",
			parse: func(d *Daemon, v string) error { d.Kubernetes.Namespace = v; return nil },
		},
		{
			Env: "SVC_K8S_POD", Help: "name of the server's own pod, which has the label svcctl.dev/leader while the server holds SVC_LEADER_LEASE; default: no label",
			parse: func(d *Daemon, v string) error { d.Kubernetes.Pod = v; return nil },
		},
		{
			Env: "SVC_K8S_MEMORY_MB", Default: "0", Help: "memory limit of a pod that has a version, MiB, set when the version gets the pod; 0 leaves the one of the pod template",
			parse: func(d *Daemon, v string) (err error) { d.Kubernetes.MemoryMB, err = memory(v); return err },
		},
		{
			Env: "SVC_LEADER_LEASE", Help: "name of a Kubernetes Lease: of several servers with the same settings the one that holds it serves, and the others stand by; needs S3_ENDPOINT and SVC_RECOVERY_KEY; default: a single server",
			parse: func(d *Daemon, v string) error { d.Kubernetes.Lease = v; return nil },
		},
		{
			Env: "SVC_REGISTRY_SYNC", Default: "0", Help: "1: the API answers a change when its copy of the registry is in the object store, so a lost machine loses none",
			parse: func(d *Daemon, v string) (err error) { d.RegistrySync, err = boolean(v); return err },
		},
	}
}

// checkHosts refuses settings that have data on this machine alone, for versions on others.
func (d *Daemon) checkHosts() (problems []error) {
	external := d.S3.Endpoint != ""
	if d.RegistrySync && !external {
		problems = append(problems, errors.New("  SVC_REGISTRY_SYNC=1 needs S3_ENDPOINT: the embedded store is on the machine that may be lost"))
	}
	if d.Kubernetes.Lease != "" && (!external || d.RecoveryKey == "") {
		problems = append(problems, errors.New("  SVC_LEADER_LEASE needs S3_ENDPOINT and SVC_RECOVERY_KEY: a server that takes over reads the registry from the object store"))
	}
	if d.Isolates && d.Hosts.Kubernetes {
		problems = append(problems, errors.New("  SVC_ISOLATION=user: a pod runs one version and is isolated as a pod; set SVC_ISOLATION=process"))
	}
	if !d.Hosts.Remote {
		return problems
	}
	unreachable := func(what, instead string) {
		problems = append(problems, fmt.Errorf("  SVC_RUNTIME: machines cannot reach %s: %s", what, instead))
	}
	if d.ArtifactsDir != "" {
		unreachable("ARTIFACTS_DIR", "upload bundles to the object store")
	}
	if d.BranchStore.Dir != "" {
		unreachable("the directory of BRANCH_STORE", "name a bucket, or unset it")
	}
	if !external && d.EmbeddedS3Addr == "" {
		unreachable("the embedded object store", "set S3_ENDPOINT, or SVC_EMBEDDED_S3_ADDR for hosts on this machine")
	}
	return problems
}
