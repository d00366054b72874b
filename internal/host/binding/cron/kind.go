package cron

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/kinds"
	"github.com/svcctl/svcctl/internal/lib/cronexpr"
)

// Kind is the kind "cron". Its zero value is ready.
type Kind struct {
	// MissedSince is when a version that slept was to run. Its first start begins the runs that
	// were due since then, because it was armed; zero for none.
	MissedSince time.Time

	clock clock
}

var (
	_ binding.Kind     = Kind{}
	_ binding.Declarer = Kind{}
)

// Name is "cron".
func (Kind) Name() string { return kinds.Cron }

// Check rejects a cron among the bindings of a manifest.
func (Kind) Check(bundle.Binding) error {
	return errors.New("cron expressions are not a binding: a manifest has them in crons")
}

// config is what Declare passes to Open.
type config struct {
	Crons []string `json:"crons"`
}

// Declare returns one declaration with all expressions of m.
func (Kind) Declare(m *bundle.Manifest) []bundle.Binding {
	if len(m.Crons) == 0 {
		return nil
	}
	text, err := json.Marshal(config{m.Crons})
	if err != nil { // strings always encode
		return nil
	}
	return []bundle.Binding{{Name: "crons", Kind: kinds.Cron, Config: text}}
}

// Open parses the expressions. The journal is opened when it is needed: a version that is
// never armed has none.
func (k Kind) Open(_ context.Context, d bundle.Binding, v volume.Volumes) (binding.Instance, error) {
	var c config
	if len(d.Config) > 0 {
		if err := json.Unmarshal(d.Config, &c); err != nil {
			return nil, fmt.Errorf("read the cron expressions: %w", err)
		}
	}
	s := &schedules{journal: &journal{volumes: v}, missedSince: k.MissedSince, clock: k.clock, running: map[int64]bool{}}
	if s.clock == nil {
		s.clock = systemClock{}
	}
	for _, text := range c.Crons {
		expression, err := cronexpr.Parse(text)
		if err != nil {
			return nil, err
		}
		s.list = append(s.list, expression)
	}
	return s, nil
}

// Wire is never called: the kind has no bindings.
func (Kind) Wire(bundle.Binding, binding.Site) binding.Wiring { return binding.Wiring{} }
