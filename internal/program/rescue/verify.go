package rescue

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/cli/whole"
	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/s3"
	"github.com/svcctl/svcctl/internal/data/sqlite"
	"github.com/svcctl/svcctl/internal/server/daemon"
	"github.com/svcctl/svcctl/internal/server/upkeep/backup"
	"github.com/svcctl/svcctl/internal/server/versions/assetstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// finding is one problem.
type finding struct {
	Part   string `json:"part"` // registry, secret, bundle, data, disk or copy
	Name   string `json:"name"`
	Detail string `json:"detail"`
}

// report is what verify prints.
type report struct {
	Versions int       `json:"versions"`
	Problems []finding `json:"problems"`

	sealed []svc.SealedSecret // of the registry
}

func (r *report) add(part, name, format string, args ...any) {
	r.Problems = append(r.Problems, finding{part, name, fmt.Sprintf(format, args...)})
}

func verify(ctx context.Context, k *kit.Kit, p whole.Place) error {
	cfg, err := settings(k, p)
	if err != nil {
		return err
	}
	database, err := snapshot(ctx, cfg.RegistryDB)
	if err != nil {
		return err
	}
	r := &report{Problems: []finding{}}
	known, err := r.registry(ctx, database)
	if err != nil {
		return err
	}
	if len(r.sealed) > 0 && cfg.SecretsKey == nil {
		k.Notef("%d secrets are not checked: SVC_SECRETS_KEY is not set here", len(r.sealed))
	}
	r.secrets(cfg)
	if err := r.bundles(ctx, cfg, known); err != nil {
		return err
	}
	if err := r.audit(ctx, k); err != nil {
		return err
	}
	r.disk(cfg, known)
	r.copied(ctx, cfg, database)
	if err := k.Print(r, func() { r.print(k) }); err != nil || len(r.Problems) == 0 {
		return err
	}
	return fmt.Errorf("verify found %d problems", len(r.Problems))
}

func (r *report) print(k *kit.Kit) {
	if len(r.Problems) > 0 {
		k.Table([]string{"PART", "NAME", "PROBLEM"}, kit.Rows(r.Problems, func(p finding) []string { return []string{p.Part, p.Name, p.Detail} }))
	}
	k.Printf("registry, %d versions, object store and disk checked: %d problems", r.Versions, len(r.Problems))
}

// version is a row of the registry.
type version struct {
	status string
	size   int64 // of the bundle; 0 if unknown
}

// registry checks the file and reads its versions.
func (r *report) registry(ctx context.Context, database []byte) (known map[svc.Ref]version, err error) {
	dir, err := os.MkdirTemp("", "svcctl-verify-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "registry.db")
	if err := os.WriteFile(path, database, 0o600); err != nil {
		return nil, err
	}
	db, err := sqlite.Open(ctx, path, sqlite.Options{Readers: 1})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var result string
	if err := db.Read().QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&result); err != nil {
		return nil, err
	}
	if result != "ok" {
		r.add("registry", "registry.db", "%s", result)
	}
	if err := r.readSecrets(ctx, db); err != nil {
		return nil, err
	}
	rows, err := db.Read().QueryContext(ctx, "SELECT project_id, id, status, size_bytes FROM versions")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	known = map[svc.Ref]version{}
	for rows.Next() {
		var ref svc.Ref
		var v version
		if err := rows.Scan(&ref.Project, &ref.Version, &v.status, &v.size); err != nil {
			return nil, err
		}
		known[ref] = v
	}
	r.Versions = len(known)
	return known, rows.Err()
}

// statBundle finds a version's bundle, under whichever key it was stored.
func statBundle(ctx context.Context, b objstore.Bucket, ref svc.Ref) (info objstore.Info, err error) {
	for _, key := range bundle.Keys(ref) {
		if info, err = b.Stat(ctx, key); !errors.Is(err, objstore.ErrNotExist) {
			break
		}
	}
	return info, err
}

// bundles checks that the object store has what versions start from.
func (r *report) bundles(ctx context.Context, cfg *config.Daemon, known map[svc.Ref]version) error {
	store, err := storeOf(cfg)
	if err != nil {
		return err
	}
	b := store.Bucket(cfg.ArtifactsBucket, "")
	for ref, v := range known {
		if v.status != string(svc.StatusReady) && v.status != string(svc.StatusArchived) || v.size == 0 || cfg.ArtifactsDir != "" {
			continue
		}
		info, err := statBundle(ctx, b, ref)
		switch {
		case errors.Is(err, objstore.ErrNotExist):
			r.add("bundle", ref.String(), "the object store has no bundle")
		case err != nil:
			return err
		case info.Size != v.size:
			r.add("bundle", ref.String(), "the bundle has %d bytes, the registry says %d", info.Size, v.size)
		}
	}
	return r.kept(ctx, assetstore.New(assetstore.Config{Bucket: b}), known)
}

// kept checks that the object store has the static files that releases keep.
func (r *report) kept(ctx context.Context, assets *assetstore.Store, known map[svc.Ref]version) error {
	projects, err := assets.Projects(ctx)
	if err != nil {
		return err
	}
	for _, project := range projects {
		lost, err := assets.LostKept(ctx, project)
		if err != nil {
			return err
		}
		for id, paths := range lost {
			ref := svc.Ref{Project: project, Version: id}
			if status := svc.Status(known[ref].status); status == svc.StatusReady || status == svc.StatusArchived {
				r.add("bundle", ref.String(), "the object store lacks %d static files that a release keeps, such as %s", len(paths), paths[0])
			}
		}
	}
	return nil
}

// storeOf connects to the object store, also to the embedded one of a running server.
func storeOf(cfg *config.Daemon) (*s3.Store, error) {
	if cfg.S3.Endpoint != "" {
		return remoteStore(cfg)
	}
	var keys struct {
		AccessKey string `json:"access_key"`
		SecretKey string `json:"secret_key"`
	}
	text, err := os.ReadFile(filepath.Join(cfg.DataDir, "object-store", "keys.json"))
	if err == nil {
		err = json.Unmarshal(text, &keys)
	}
	if err != nil {
		return nil, fmt.Errorf("read the keys of the embedded object store: %w", err)
	}
	return s3.New(s3.Config{
		Endpoint: "unix:" + filepath.Join(cfg.DataDir, "run", "s3.sock"), AccessKey: keys.AccessKey, SecretKey: svc.Secret(keys.SecretKey),
	})
}

// audit asks the server to check the databases of all versions.
func (r *report) audit(ctx context.Context, k *kit.Kit) error {
	c, err := k.Client()
	if err != nil {
		return err
	}
	a, err := c.AuditStorage(ctx, "")
	if err != nil {
		return err
	}
	for _, p := range a.Problems {
		r.add("data", p.ProjectID+"/"+p.VersionID, "%s %s: %s", p.Code, p.Store, p.Detail)
	}
	if a.Incomplete {
		r.add("data", "all", "the audit reached its time limit: run svcctl admin gc --audit for each project")
	}
	return nil
}

// disk checks that the cache belongs to versions that exist.
func (r *report) disk(cfg *config.Daemon, known map[svc.Ref]version) {
	dirs, _ := filepath.Glob(filepath.Join(cfg.DataDir, "versions", "*", "*")) // the pattern is well formed
	for _, dir := range dirs {
		ref := svc.Ref{Project: filepath.Base(filepath.Dir(dir)), Version: filepath.Base(dir)}
		if v, ok := known[ref]; !ok || v.status == string(svc.StatusDestroyed) {
			r.add("disk", dir, "the registry has no such version: its cleanup is due")
		}
	}
}

// copied checks the copy of the registry in an external object store.
func (r *report) copied(ctx context.Context, cfg *config.Daemon, database []byte) {
	if cfg.S3.Endpoint == "" {
		return
	}
	state, err := readCopy(ctx, cfg)
	switch {
	case err != nil:
		r.add("copy", "registry.db", "%v", err)
	case !bytes.Equal(state.Database, database) && time.Since(state.At) > late:
		r.add("copy", "registry.db", "the newest copy is of %s and differs from the registry", state.At.Format(time.RFC3339))
	}
}

// late is the age from which a copy that differs is a problem.
const late = 5 * time.Minute

func readCopy(ctx context.Context, cfg *config.Daemon) (*backup.State, error) {
	i, err := daemon.Identify(cfg)
	if err != nil {
		return nil, err
	}
	store, err := remoteStore(cfg)
	if err != nil {
		return nil, err
	}
	return backup.Read(ctx, store.Bucket(cfg.ArtifactsBucket, ""), i.Node, i.Key)
}
