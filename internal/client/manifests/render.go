package manifests

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"go.yaml.in/yaml/v3"

	"github.com/svcctl/svcctl/packaging/chart"
)

// Object is one object of Kubernetes.
type Object struct {
	Kind, Name string

	Text   string         // YAML with the comments of its template; ends with a line end
	Fields map[string]any // what Text says
}

// Release is what an installation consists of.
type Release struct {
	Namespace string
	Version   string         // of the program, the default tag of the image
	Values    map[string]any // all values: Merge of Defaults and a person's own
}

// order is the order of kinds in which objects can be created without one that misses another.
func order() []string {
	return []string{
		"ServiceAccount", "Secret", "ConfigMap", "Role", "RoleBinding", "NetworkPolicy", "Service", "PersistentVolumeClaim",
		"PodDisruptionBudget", "Deployment", "HorizontalPodAutoscaler", "Ingress", "ServiceMonitor", "PodMonitor",
	}
}

// Render returns the objects of an installation, ordered by kind. Errors of values are *ValueError.
func Render(r Release) ([]Object, error) {
	if err := Check(r.Values); err != nil {
		return nil, err
	}
	t, err := parse()
	if err != nil {
		return nil, err
	}
	var list []Object
	for _, file := range files(t) {
		text, err := execute(t, file, r)
		if err != nil {
			return nil, err
		}
		objects, err := split(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		list = append(list, objects...)
	}
	kinds := order()
	slices.SortStableFunc(list, func(a, b Object) int {
		return cmp.Compare(slices.Index(kinds, a.Kind), slices.Index(kinds, b.Kind))
	})
	return list, nil
}

// parse reads the templates. Each has the name of its file.
func parse() (*template.Template, error) {
	t := template.New(root).Option("missingkey=error")
	t.Funcs(functions(t))
	dir := root + "/templates"
	list, err := fs.ReadDir(chart.Files, dir)
	if err != nil {
		return nil, err
	}
	for _, e := range list {
		text, err := fs.ReadFile(chart.Files, dir+"/"+e.Name())
		if err != nil {
			return nil, err
		}
		if _, err := t.New(e.Name()).Parse(string(text)); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// files are the templates that consist of objects.
func files(t *template.Template) []string {
	var names []string
	for _, f := range t.Templates() {
		if path.Ext(f.Name()) == ".yaml" {
			names = append(names, f.Name())
		}
	}
	slices.Sort(names)
	return names
}

func execute(t *template.Template, file string, r Release) (string, error) {
	var out strings.Builder
	err := t.ExecuteTemplate(&out, file, map[string]any{
		"Values":  r.Values,
		"Release": map[string]any{"Name": root, "Namespace": r.Namespace, "Service": root},
		"Chart":   map[string]any{"AppVersion": tag(r.Version)},
	})
	if missing, ok := errors.AsType[*ValueError](err); ok {
		return "", missing
	}
	return out.String(), err
}

// tag is the tag of the image of a release, as packaging/image/build gives it.
func tag(version string) string {
	if regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,61}[A-Za-z0-9]$`).MatchString(version) {
		return version
	}
	return "latest" // a build that has no release
}

// split reads the documents of a rendered template. Those without an object are left out.
func split(text string) ([]Object, error) {
	var list []Object
	for part := range strings.SplitSeq("\n"+text, "\n---\n") {
		o, err := object(part)
		if err != nil {
			return nil, err
		}
		if o.Kind != "" {
			list = append(list, o)
		}
	}
	return list, nil
}

func object(text string) (o Object, err error) {
	o.Text = strings.TrimSpace(text) + "\n"
	if err := yaml.Unmarshal([]byte(text), &o.Fields); err != nil {
		return o, err
	}
	o.Kind, _ = o.Fields["kind"].(string)
	metadata, _ := o.Fields["metadata"].(map[string]any)
	o.Name, _ = metadata["name"].(string)
	return o, nil
}
