package build

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/client/assets"
	"github.com/svcctl/svcctl/internal/client/project"
	"github.com/svcctl/svcctl/internal/host/binding/kinds"
	"github.com/svcctl/svcctl/internal/svc"
)

// bindings are the resources of a project file as a manifest declares them.
func bindings(f *project.File) []bundle.Binding {
	var list []bundle.Binding
	for _, kv := range f.KV {
		list = append(list, bundle.Binding{Name: kv.Binding, Kind: kinds.KV, Resource: kv.Resource()})
	}
	for _, d := range f.Databases {
		list = append(list, bundle.Binding{Name: d.Binding, Kind: kinds.Database, Resource: d.Resource()})
	}
	for _, b := range f.Buckets {
		list = append(list, bundle.Binding{Name: b.Binding, Kind: kinds.ObjectStore, Resource: b.Resource()})
	}
	for _, p := range f.Producers {
		list = append(list, bundle.Binding{Name: p.Binding, Kind: kinds.QueueProducer, Resource: p.Queue, Config: producerConfig(p)})
	}
	for _, w := range f.Workflows {
		config, err := json.Marshal(kinds.WorkflowConfig{ClassName: w.ClassName})
		if err != nil { // a string always encodes
			continue
		}
		list = append(list, bundle.Binding{Name: w.Binding, Kind: kinds.Workflow, Resource: w.Name, Config: config})
	}
	for _, b := range f.Declared {
		list = append(list, b.Binding)
	}
	for _, m := range f.Missing {
		list = append(list, bundle.Binding{Name: m.Binding, Kind: kinds.Missing, Resource: m.Key})
	}
	if f.VersionMetadata != "" {
		list = append(list, bundle.Binding{Name: f.VersionMetadata, Kind: kinds.VersionMetadata})
	}
	for _, o := range f.Objects {
		config, _ := json.Marshal(map[string]string{"class_name": o.Class}) // a string always encodes
		list = append(list, bundle.Binding{Name: o.Binding, Kind: kinds.DurableObject, Resource: o.Key, Config: config})
	}
	for _, s := range f.Services {
		config, err := json.Marshal(kinds.ServiceConfig{Self: s.Self, Entrypoint: s.Entrypoint, Props: s.Props, Version: s.Version, Optional: s.Optional, ObjectClass: s.Class})
		if err != nil { // a value of the file always encodes
			continue
		}
		list = append(list, bundle.Binding{Name: s.Binding, Kind: kinds.Service, Resource: s.Name, Config: config})
	}
	return list
}

// producerConfig is nil for a producer without options.
func producerConfig(p project.Producer) json.RawMessage {
	if p.DeliveryDelay == 0 {
		return nil
	}
	return json.RawMessage(fmt.Sprintf(`{"delivery_delay":%d}`, p.DeliveryDelay))
}

// migrations adds the SQL files of every database. Two bindings of one database
// would apply the same files twice under one table of names, so the second of
// equal ones is left out.
func (r *Result) migrations(f *project.File, m *bundle.Manifest, tree bundle.Tree) error {
	type source struct{ resource, dir, pattern, table string }
	seen := map[source]bool{}
	for _, d := range f.Databases {
		from := source{d.Resource(), d.MigrationsDir, d.MigrationsPattern, d.MigrationsTable}
		if seen[from] {
			continue
		}
		seen[from] = true
		list, notices, err := d.Migrations()
		if err != nil {
			return err
		}
		r.Notices = append(r.Notices, notices...)
		if len(list) == 0 {
			continue
		}
		r.Watch = append(r.Watch, d.MigrationsDir)
		entry := bundle.Migrations{Binding: d.Binding, Table: d.MigrationsTable}
		for _, file := range list {
			path := bundle.MigrationPath(d.Binding, file.Name)
			if tree[path], err = os.ReadFile(file.Path); err != nil {
				return fmt.Errorf("reading a migration: %w", err)
			}
			entry.Files = append(entry.Files, bundle.File{Path: path})
		}
		m.Migrations = append(m.Migrations, entry)
	}
	return nil
}

// seeds adds the files that the resources of a version start with, and
// gives where they lie, by their paths in the bundle.
func (r *Result) seeds(f *project.File, m *bundle.Manifest) (map[string]string, error) {
	list, err := f.Seeds(m.Bindings)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	r.Watch = append(r.Watch, filepath.Join(f.Root, project.SeedsDir))
	disk := map[string]string{}
	for _, s := range list {
		entry := bundle.Seeds{Binding: s.Binding}
		for _, file := range s.Files {
			path := bundle.SeedPath(file.Name)
			entry.Files = append(entry.Files, bundle.File{Path: path})
			disk[path] = file.Path
		}
		m.Seeds = append(m.Seeds, entry)
	}
	return disk, nil
}

// assets adds the static files, which are read where they lie. disk is where other files
// lie, by their paths in the bundle.
func (r *Result) assets(f *project.File, m *bundle.Manifest, disk map[string]string) (map[string]string, error) {
	a := f.Assets
	if a == nil {
		return disk, nil
	}
	found, err := assets.Collect(assets.Request{Dir: a.Dir, Project: f.Dir, Ignore: a.Ignore})
	if svc.CodeOf(err) == svc.CodeAssetsMissing {
		return nil, svc.AsError(err).WithHint("%s, or correct assets.directory", project.BuildHint(f.Dir, a.Dir))
	}
	if err != nil {
		return nil, err
	}
	for _, text := range found.Notices {
		r.Notices = append(r.Notices, project.Notice{Level: project.Warning, Text: text})
	}
	r.Watch = append(r.Watch, a.Dir)
	if f.Functions != "" {
		r.Watch = append(r.Watch, f.Functions)
	}
	m.Assets.Redirects, m.Assets.Headers, m.Assets.Files = found.Redirects, found.Headers, found.Files
	if disk == nil {
		disk = map[string]string{}
	}
	maps.Copy(disk, found.Disk)
	return disk, nil
}

// sources are the files of a bundle: some in memory; seeds and assets, which may be
// large, where they lie on disk.
type sources struct {
	tree bundle.Tree
	disk map[string]string
}

// Open opens a file by its path in the bundle.
func (s sources) Open(name string) (fs.File, error) {
	if path, ok := s.disk[name]; ok {
		return os.Open(path)
	}
	return s.tree.Open(name)
}
