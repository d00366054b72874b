package queues

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/kinds"
	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/svc"
)

// Kinds are the kinds queue_producer and queue_consumer, which share the queues that
// they open. A producer stores no message beyond limit in a queue; 0 is no limit.
func Kinds(limit int) []binding.Kind {
	r := &registry{limit: int64(limit), open: map[key]*shared{}}
	return []binding.Kind{producers{r}, consumers{r}}
}

// producers is the kind of the bindings that send. It has an instance for every queue
// that a manifest names: the API shows them all.
type producers struct{ registry *registry }

// consumers is the kind of what a manifest has in queue_consumers.
type consumers struct{ registry *registry }

var (
	_ binding.Kind     = producers{}
	_ binding.Kind     = consumers{}
	_ binding.Declarer = producers{}
	_ binding.Declarer = consumers{}
)

// Name is "queue_producer".
func (producers) Name() string { return kinds.QueueProducer }

// Name is "queue_consumer".
func (consumers) Name() string { return kinds.QueueConsumer }

// Records are the messages of all queues, those without a consumer included.
func (producers) Records() []binding.Table {
	return []binding.Table{{Database: volume.SharedDatabase, Name: "queue_message", Record: svc.ExportMessage, Owners: "queue", Column: "queue"}}
}

// Check rejects a queue without a proper name, and a delay out of range.
func (producers) Check(d bundle.Binding) error {
	if !bundle.IsQueueName(d.Resource) {
		return fmt.Errorf("the resource, which names the queue, has %s; not %q", bundle.QueueNameRule, d.Resource)
	}
	p, err := producerOf(d)
	if err != nil {
		return fmt.Errorf("the config: %w", err)
	}
	if p.DeliveryDelay < 0 || p.DeliveryDelay > bundle.MaxQueueDelay {
		return fmt.Errorf("the delivery_delay is a number of seconds from 0 to %d", bundle.MaxQueueDelay)
	}
	return nil
}

// Check rejects all: consumers are no bindings.
func (consumers) Check(bundle.Binding) error {
	return errors.New("the manifest has consumers in queue_consumers and not among the bindings")
}

func producerOf(d bundle.Binding) (p bundle.QueueProducer, err error) {
	if len(d.Config) > 0 {
		err = json.Unmarshal(d.Config, &p)
	}
	return p, err
}

// Declare names every queue of m.
func (producers) Declare(m *bundle.Manifest) (list []bundle.Binding) {
	for _, c := range m.QueueConsumers {
		list = append(list, bundle.Binding{Kind: kinds.QueueProducer, Resource: c.Queue})
		if c.DeadLetterQueue != "" {
			list = append(list, bundle.Binding{Kind: kinds.QueueProducer, Resource: c.DeadLetterQueue})
		}
	}
	return list
}

// Declare gives the consumers of m.
func (consumers) Declare(m *bundle.Manifest) (list []bundle.Binding) {
	for _, c := range m.QueueConsumers {
		config, err := json.Marshal(c)
		if err != nil {
			continue // texts and numbers can be encoded
		}
		list = append(list, bundle.Binding{Name: c.Queue, Kind: kinds.QueueConsumer, Resource: c.Queue, Config: config})
	}
	return list
}

// Open opens the queue in the version's shared database.
func (k producers) Open(ctx context.Context, d bundle.Binding, v volume.Volumes) (binding.Instance, error) {
	db, err := v.Database(ctx, volume.SharedDatabase)
	if err != nil {
		return nil, err
	}
	q, err := k.registry.get(ctx, db, d.Resource)
	if err != nil {
		return nil, err
	}
	return &producer{q, k.registry}, nil
}

// Open opens the queue and that of its dead letters.
func (k consumers) Open(ctx context.Context, d bundle.Binding, v volume.Volumes) (binding.Instance, error) {
	db, err := v.Database(ctx, volume.SharedDatabase)
	if err != nil {
		return nil, err
	}
	var config bundle.QueueConsumer
	if len(d.Config) > 0 {
		if err := json.Unmarshal(d.Config, &config); err != nil {
			return nil, fmt.Errorf("the config of a consumer: %w", err)
		}
	}
	c := &consumer{settings: settingsOf(config), registry: k.registry}
	if c.queue, err = k.registry.get(ctx, db, d.Resource); err != nil {
		return nil, err
	}
	if c.settings.dead != "" {
		if c.dead, err = k.registry.get(ctx, db, c.settings.dead); err != nil {
			k.registry.put(c.queue)
			return nil, err
		}
	}
	c.attach(c)
	return c, nil
}

//go:embed client.js
var client string

// Wire is workerd's own queue binding, served by the queue.
func (producers) Wire(d bundle.Binding, s binding.Site) binding.Wiring {
	p, _ := producerOf(d) // Check has read it
	delay := strconv.Itoa(p.DeliveryDelay)
	service := s.Service("queue:"+d.Resource+":"+delay, d)
	service.External.InjectRequestHeaders = append(service.External.InjectRequestHeaders, workerd.Header{Name: delayHeader, Value: delay})
	own := workerd.Binding{Name: d.Name, Queue: service.Name}
	if !s.Traced {
		return binding.Wiring{Binding: own, Services: []workerd.Service{service}}
	}
	own.Name = "queue"
	w := s.Client(d, service.Name, client, own)
	w.Services = []workerd.Service{service}
	return w
}

// Wire is not called: a consumer is not in the worker's env.
func (consumers) Wire(bundle.Binding, binding.Site) binding.Wiring { return binding.Wiring{} }

// producer is the Instance of a queue that may be sent to.
type producer struct {
	*queue

	registry *registry
}

// Close leaves the database to its owner.
func (p *producer) Close() error {
	p.registry.put(p.queue)
	return nil
}
