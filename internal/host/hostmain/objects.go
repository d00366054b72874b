package hostmain

import (
	"context"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/dataplane"
	"github.com/svcctl/svcctl/internal/host/durable"
	"github.com/svcctl/svcctl/internal/host/workerhost"
	"github.com/svcctl/svcctl/internal/svc"
)

// objectsDir is where workerd keeps Durable Objects, below the version's data. It is removed
// with the data when the version is archived or destroyed.
const objectsDir = "objects"

// openObjects makes the storage of Durable Objects ready; nil without a class of them.
func openObjects(ctx context.Context, s svc.RuntimeSpec, m *bundle.Manifest, v *dataplane.Volumes, log *slog.Logger) (*durable.Keeper, error) {
	if len(m.ObjectClasses) == 0 {
		return nil, nil // there is nothing to keep
	}
	if s.Host.Storage.Sync {
		return nil, svc.Errorf(svc.Unprocessable, svc.CodeObjectsNotSync, "the worker has Durable Objects, and this server runs with SVC_DURABILITY=sync: "+
			"workerd answers when a write is on the local disk and cannot wait for the object store").
			WithHint("deploy to a server with SVC_DURABILITY=async")
	}
	c := objectsConfig(s, v, log)
	for _, class := range m.ObjectClasses {
		key := s.ObjectNamespace.Key(class.Key)
		if class.Deleted {
			c.Deleted = append(c.Deleted, key)
		} else {
			c.Keys = append(c.Keys, key)
		}
	}
	return durable.New(ctx, c)
}

func objectsConfig(s svc.RuntimeSpec, v *dataplane.Volumes, log *slog.Logger) durable.Config {
	return durable.Config{
		Dir: filepath.Join(s.Local.DataDir, objectsDir), Version: s.Ref.Version, Volumes: v, Logger: log,
		Continues: s.Continues, HandedOver: s.HandedOver,
	}
}

// collectObjects brings what a killed workerd wrote last into the data.
func collectObjects(ctx context.Context, s svc.RuntimeSpec, v *dataplane.Volumes, log *slog.Logger) error {
	return durable.Collect(ctx, objectsConfig(s, v, log))
}

// Objects keeps the storage of Durable Objects.
func (r resources) Objects() workerhost.Objects { //nolint:ireturn // nil without any
	if r.objects == nil {
		return nil
	}
	return r.objects
}

// alarmLimit is the time limit for reading when an alarm is due.
const alarmLimit = 5 * time.Second

// Wake adds the alarms of Durable Objects to the work of the bindings, unless the version gets no
// events: then they do not begin. Alarms that cannot be read are due now: a version with some must not
// sleep.
func (r resources) Wake() svc.Wake {
	w := r.Set.Wake()
	if r.objects == nil || !r.GetsEvents() {
		return w
	}
	ctx, cancel := context.WithTimeout(context.Background(), alarmLimit) //nolint:forbidigo // Wake gets none
	defer cancel()
	at, err := r.objects.NextAlarm(ctx)
	if err != nil {
		return w.With(time.Now())
	}
	return w.With(at)
}
