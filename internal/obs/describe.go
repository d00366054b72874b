package obs

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/svcctl/svcctl/internal/lib/buildinfo"
)

// Description is a metric of the reference.
type Description struct {
	Name   string
	Help   string
	Labels []string
}

// Describe returns the program's own metrics, sorted by name.
func Describe() []Description {
	m := NewMetrics(buildinfo.Build{})
	m.Watch(context.Background(), Sources{}) //nolint:forbidigo // nothing is read
	m.WatchGateways(nil)
	edge := NewMetrics(buildinfo.Build{})
	edge.WatchGateway(GatewaySources{})
	descs := make(chan *prometheus.Desc, 1000) // more than there are metrics, those of Go included
	m.registry.Describe(descs)
	edge.registry.Describe(descs)
	close(descs)
	var all []Description
	for d := range descs {
		if found, ok := parseDesc(d.String()); ok && strings.HasPrefix(found.Name, "svc_") {
			all = append(all, found)
		}
	}
	slices.SortFunc(all, func(a, b Description) int { return cmp.Compare(a.Name, b.Name) })
	return slices.CompactFunc(all, func(a, b Description) bool { return a.Name == b.Name })
}

// descText is the text of a prometheus.Desc, which has no accessors.
var descText = regexp.MustCompile(`fqName: "([^"]*)", help: "([^"]*)".*, constLabels: \{([^}]*)\}, variableLabels: \{([^}]*)\}`)

// constLabel is a label with its value.
var constLabel = regexp.MustCompile(`(\w+)="[^"]*"`)

func parseDesc(text string) (Description, bool) {
	m := descText.FindStringSubmatch(text)
	if m == nil {
		return Description{}, false
	}
	d := Description{Name: m[1], Help: m[2]}
	for _, label := range constLabel.FindAllStringSubmatch(m[3], -1) {
		d.Labels = append(d.Labels, label[1])
	}
	if m[4] != "" {
		d.Labels = append(d.Labels, strings.Split(m[4], ",")...)
	}
	return d, true
}
