package cli

import (
	"errors"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/manifests"
)

// kubernetes are the flags of svcctl admin manifests kubernetes.
type kubernetes struct {
	namespace string
	files     []string
	sets      []string
	values    []valueFlag

	secretsOnly bool
}

// valueFlag is a flag that is short for a value.
type valueFlag struct {
	flag, path, help string

	value string
}

func newAdminManifests(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "manifests", Short: "Print what installs a server on other machines"}
	cmd.AddCommand(newManifestsKubernetes(k))
	return cmd
}

func newManifestsKubernetes(k *kit.Kit) *cobra.Command {
	m := kubernetes{values: []valueFlag{
		{flag: "host", path: "host", help: "base domain of workers, such as apps.example.com"},
		{flag: "image", path: "image.ref", help: "image (default: svcctl:RELEASE of this program)"},
		{flag: "s3-endpoint", path: "s3.endpoint", help: "URL of the object store"},
		{flag: "s3-region", path: "s3.region", help: "region of the object store"},
		{flag: "s3-bucket-prefix", path: "s3.bucketPrefix", help: "buckets are PREFIX-artifacts and PREFIX-runtime (default: svc)"},
		{flag: "s3-secret", path: "s3.secret", help: "name of the Secret with S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY"},
	}}
	cmd := &cobra.Command{
		Use: "kubernetes", Short: "Print the manifests that install a server on Kubernetes", Args: cobra.NoArgs,
		Long: "Prints what the Helm chart of this release installs, for kubectl apply -f -. Values are those of the chart " +
			"(packaging/chart/svcctl/values.yaml); its schema checks them. Without the value secrets.existing the output begins with Secrets " +
			"of new tokens and keys. They are immutable: applied a second time, others are refused. --secrets-only prints only these, for " +
			"an installation that names them with secrets.existing.",
		RunE: func(cmd *cobra.Command, _ []string) error { return m.run(k, cmd.Root().Version) },
	}
	f := cmd.Flags()
	f.StringVarP(&m.namespace, "namespace", "n", "svcctl", "namespace of the installation")
	f.StringArrayVarP(&m.files, "values", "f", nil, "file with values, - for standard input; the last one of several wins")
	f.StringArrayVar(&m.sets, "set", nil, "one value, NAME.NAME=VALUE, with VALUE in YAML; over those of files")
	f.BoolVar(&m.secretsOnly, "secrets-only", false, "print only the Secrets and the ConfigMap that the others refer to")
	for i := range m.values {
		f.StringVar(&m.values[i].value, m.values[i].flag, "", m.values[i].help)
	}
	return cmd
}

func (m *kubernetes) run(k *kit.Kit, version string) error {
	list, err := m.objects(k, version)
	if invalid, ok := errors.AsType[*manifests.ValueError](err); ok {
		return kit.Usagef("%v%s", invalid, m.instead(invalid))
	}
	if err != nil {
		return err
	}
	items := make([]any, len(list))
	for i, o := range list {
		items[i] = o.Fields
	}
	return k.Print(map[string]any{"apiVersion": "v1", "kind": "List", "items": items}, func() {
		for _, o := range list {
			_, _ = io.WriteString(k.Out, "---\n"+o.Text) // as Printf
		}
	})
}

// objects are the Secrets, unless they exist, and all others.
func (m *kubernetes) objects(k *kit.Kit, version string) ([]manifests.Object, error) {
	values, err := m.merged(k)
	if err != nil {
		return nil, err
	}
	if err := manifests.Check(values); err != nil {
		return nil, err
	}
	var secrets []manifests.Object
	names := manifests.NamesOf(values)
	if m.secretsOnly || !names.Existing {
		if secrets, err = manifests.Secrets(names, m.namespace, time.Now()); err != nil {
			return nil, err
		}
		values = manifests.Merge(values, at("secrets.existing", names.ControlPlane))
	}
	var list []manifests.Object
	if !m.secretsOnly {
		if list, err = manifests.Render(manifests.Release{Namespace: m.namespace, Version: version, Values: values}); err != nil {
			return nil, err
		}
	}
	if len(secrets) > 0 {
		k.Notef("the output has new tokens and keys: keep it private, and store the recovery key outside of the cluster;\n"+
			"to print the other manifests again, use --set secrets.existing=%s", names.ControlPlane)
	}
	return append(secrets, list...), nil
}

// merged are the values of the chart, and over them those of files, of --set and of the flags.
func (m *kubernetes) merged(k *kit.Kit) (map[string]any, error) {
	values, err := manifests.Defaults()
	if err != nil {
		return nil, err
	}
	for _, name := range m.files {
		text, err := k.ReadFile(name)
		if err != nil {
			return nil, err
		}
		own, err := manifests.ParseValues(text)
		if err != nil {
			return nil, kit.Usagef("%s: %v", name, err)
		}
		values = manifests.Merge(values, own)
	}
	for _, text := range m.sets {
		own, err := manifests.ParseSet(text)
		if err != nil {
			return nil, kit.Usagef("--set: %v", err)
		}
		values = manifests.Merge(values, own)
	}
	for _, v := range m.values {
		if v.value != "" {
			values = manifests.Merge(values, at(v.path, v.value))
		}
	}
	return values, nil
}

// at is a tree with one value.
func at(path, value string) map[string]any {
	if first, rest, ok := strings.Cut(path, "."); ok {
		return map[string]any{first: at(rest, value)}
	}
	return map[string]any{path: value}
}

// instead names the flag for a value that is missing; "" if it has none.
func (m *kubernetes) instead(err *manifests.ValueError) string {
	for _, v := range m.values {
		if v.path == err.Missing {
			return "\nuse --" + v.flag
		}
	}
	return ""
}
