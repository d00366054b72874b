package versionmeta

import (
	"encoding/json"
	"errors"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/kinds"
	"github.com/svcctl/svcctl/internal/host/workerd"
)

// Kind is the kind "version_metadata". Its zero value is ready.
type Kind struct{ binding.NoData }

var _ binding.Kind = Kind{}

// Name is "version_metadata".
func (Kind) Name() string { return kinds.VersionMetadata }

// Check rejects a declaration that names data.
func (Kind) Check(d bundle.Binding) error {
	if d.Resource != "" || len(d.Config) > 0 {
		return errors.New("version metadata has neither a resource nor a config")
	}
	return nil
}

// Wire gives the worker one JSON value.
func (Kind) Wire(d bundle.Binding, s binding.Site) binding.Wiring {
	text := metadata(s)
	return binding.Wiring{Binding: workerd.Binding{Name: d.Name, JSON: &text}}
}

func metadata(s binding.Site) string {
	b, err := json.Marshal(struct {
		ID        string `json:"id"`
		Tag       string `json:"tag"`
		Timestamp string `json:"timestamp"`
	}{s.Ref.Version, s.Tag, binding.Stamp(s.CreatedAt)})
	if err != nil { // three strings always encode
		return "{}"
	}
	return string(b)
}
