package cli

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/program/serve"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// inKubernetes are flags that an installation needs.
func inKubernetes(more ...string) []string {
	return append([]string{
		"admin", "manifests", "kubernetes", "--host", "apps.example.com", "--s3-endpoint", "https://s3.example.com", "--s3-secret", "s3-keys",
	}, more...)
}

// manifest is what the tests read of an object.
type manifest struct {
	Kind     string `json:"kind" yaml:"kind"`
	Metadata struct {
		Namespace string `json:"namespace" yaml:"namespace"`
		Name      string `json:"name" yaml:"name"`
	} `json:"metadata" yaml:"metadata"`
	StringData map[string]string `json:"stringData" yaml:"stringData"`
	Spec       struct {
		Replicas int `json:"replicas" yaml:"replicas"`
		Template struct {
			Spec struct {
				Containers []container `json:"containers" yaml:"containers"`
			} `json:"spec" yaml:"spec"`
		} `json:"template" yaml:"template"`
	} `json:"spec" yaml:"spec"`
}

type container struct {
	Args []string `json:"args" yaml:"args"`
	Env  []struct {
		Name  string  `json:"name" yaml:"name"`
		Value *string `json:"value" yaml:"value"`
	} `json:"env" yaml:"env"`
}

// listing has the kinds and names of a stream of objects.
func listing(t *testing.T, text string) (list []string, objects []manifest) {
	t.Helper()
	dec := yaml.NewDecoder(strings.NewReader(text))
	for {
		var o manifest
		if err := dec.Decode(&o); errors.Is(err, io.EOF) {
			return list, objects
		} else if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		list = append(list, o.Kind+" "+o.Metadata.Namespace+"/"+o.Metadata.Name)
		objects = append(objects, o)
	}
}

func TestManifestsKubernetes(t *testing.T) {
	t.Parallel()
	code, out, errs := run(t, nil, inKubernetes("--namespace", "team", "--image", "registry.example.com/svcctl:v9", "--s3-region", "eu-west-1", "--s3-bucket-prefix", "acme")...)
	list, _ := listing(t, out)
	if code != kit.ExitOK || !strings.Contains(errs, "the output has new tokens and keys") || !strings.Contains(errs, "--set secrets.existing=svcctl") {
		t.Errorf("exit %d: %s", code, errs)
	}
	if want := []string{"Secret team/svcctl", "Secret team/svcctl-gateway", "ConfigMap team/svcctl-hosts-ca", "ServiceAccount team/svcctl"}; !slices.Equal(list[:4], want) {
		t.Errorf("%q", list)
	}
	for _, want := range []string{
		"image: \"registry.example.com/svcctl:v9\"\n", `{name: S3_REGION, value: "eu-west-1"}`, `{name: SVC_ARTIFACTS_BUCKET, value: "acme-artifacts"}`,
		"{secretKeyRef: {name: s3-keys, key: S3_ACCESS_KEY_ID}}", `{name: SVC_INGRESS_BASE_DOMAIN, value: "apps.example.com"}`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s", want)
		}
	}
	code, again, errs := run(t, nil, inKubernetes("--namespace", "team", "--set", "secrets.existing=svcctl")...)
	without, _ := listing(t, again)
	if code != kit.ExitOK || errs != "" || !slices.Equal(without, list[3:]) {
		t.Errorf("exit %d with %q: %s", code, without, errs)
	}
}

// TestManifestsSecretsOnly: tokens and keys do not depend on what the installation needs besides.
func TestManifestsSecretsOnly(t *testing.T) {
	t.Parallel()
	code, out, errs := run(t, nil, "admin", "manifests", "kubernetes", "--secrets-only", "--set", "secrets.existing=mine", "--set", "trialStore.enabled=true")
	list, _ := listing(t, out)
	if want := []string{"Secret svcctl/mine", "Secret svcctl/mine-gateway", "ConfigMap svcctl/mine-hosts-ca", "Secret svcctl/mine-s3"}; code != kit.ExitOK || !slices.Equal(list, want) {
		t.Errorf("exit %d with %q: %s", code, list, errs)
	}
}

// TestManifestsValues: files, --set and flags are over the chart's values, in this order.
func TestManifestsValues(t *testing.T) {
	t.Parallel()
	dir := svctest.Files(t, map[string]string{
		"a.yaml": "host: a.example\nhosts: {spares: 3}\ngateway: {replicas: 3}\nsecrets: {existing: x}\n",
		"b.yaml": "host: b.example\nhosts: {spares: 4}\n", "wrong.yaml": "- 1\n",
	})
	code, out, errs := run(t, nil, inKubernetes("-f", dir+"/a.yaml", "-f", dir+"/b.yaml", "--set", "hosts.spares=5", "--set", "host=c.example", "-o", "json")...)
	var all struct {
		Kind  string     `json:"kind"`
		Items []manifest `json:"items"`
	}
	if err := json.Unmarshal([]byte(out), &all); err != nil || code != kit.ExitOK || all.Kind != "List" {
		t.Fatalf("exit %d, %v: %s", code, err, errs)
	}
	replicas := map[string]int{}
	for _, o := range all.Items {
		if o.Kind == "Deployment" {
			replicas[o.Metadata.Name] = o.Spec.Replicas
		}
	}
	if replicas["svcctl-spare"] != 5 || replicas["svcctl-gateway"] != 3 || replicas["svcctl"] != 2 || !strings.Contains(out, `"apps.example.com"`) {
		t.Errorf("%v", replicas)
	}
	for want, args := range map[string][]string{
		"use --host": {"admin", "manifests", "kubernetes"}, "use --s3-endpoint": {"admin", "manifests", "kubernetes", "--host", "a.example"},
		"use --s3-secret": {"admin", "manifests", "kubernetes", "--host", "a.example", "--s3-endpoint", "https://s3.example.com"},
		"a.yml":           inKubernetes("-f", "a.yml"), "wrong.yaml: not a mapping": inKubernetes("-f", dir+"/wrong.yaml"),
		"want NAME.NAME=VALUE": inKubernetes("--set", "hosts"), "hosts.seats: unknown value": inKubernetes("--set", "hosts.seats=1"),
	} {
		code, out, errs := run(t, nil, args...)
		if code != kit.ExitUsage || out != "" || !strings.Contains(errs, want) {
			t.Errorf("%q: exit %d: %s", args, code, errs)
		}
	}
}

// TestManifestsRun: the programs know the commands, flags and settings of all containers, and take them
// together with the tokens and keys that come with them.
func TestManifestsRun(t *testing.T) {
	t.Parallel()
	_, out, _ := run(t, nil, inKubernetes("--set", "trialStore.enabled=true", "--set", "apiHost=deploy.example.com")...)
	_, objects := listing(t, out)
	i := slices.IndexFunc(objects, func(o manifest) bool { return o.Kind == "Secret" && o.Metadata.Name == "svcctl" })
	dir := svctest.Files(t, objects[i].StringData)
	containers := map[string][]string{}
	for _, o := range objects {
		for _, c := range o.Spec.Template.Spec.Containers {
			understands(t, c.Args)
			containers[c.Args[0]] = environ(c, dir)
		}
	}
	if cfg, err := config.LoadDaemon(config.Source{Environ: containers["serve"]}); err != nil || cfg.BaseDomain != "apps.example.com" || cfg.AdminToken == "" || len(cfg.APIHosts) != 4 || !cfg.Hosts.Kubernetes || !cfg.RegistrySync || cfg.Kubernetes.Pod == "" {
		t.Errorf("svcd serve: %v, %+v", err, cfg)
	}
	if _, err := config.LoadGateway(containers["gateway"]); err != nil {
		t.Errorf("svcd gateway: %v", err)
	}
	if _, err := config.LoadDaemon(config.Source{Environ: containers["host"]}); err != nil {
		t.Errorf("svcd host: %v", err)
	}
	if len(containers) != 4 || !slices.Contains(containers["trial-store"], "S3_ACCESS_KEY_ID=x") {
		t.Errorf("%v", containers)
	}
}

// environ is the environment of a container that has its Secret in dir.
func environ(c container, dir string) []string {
	list := []string{"HOME=" + dir}
	for _, e := range c.Env {
		value := "x"
		if e.Value != nil {
			value = strings.ReplaceAll(*e.Value, "/etc/svcctl/secrets", dir)
		}
		list = append(list, e.Name+"="+value)
	}
	return list
}

func understands(t *testing.T, args []string) {
	t.Helper()
	cmd, rest, err := serve.NewDaemon(&kit.Kit{}).Find(args)
	if err == nil {
		err = cmd.ParseFlags(rest)
	}
	if err == nil {
		err = cmd.ValidateRequiredFlags()
	}
	if err != nil || cmd.Name() != args[0] || len(cmd.Flags().Args()) > 0 {
		t.Errorf("svcd %q: %v", args, err)
	}
}
