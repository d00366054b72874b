package hostmain

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/dataplane"
	"github.com/svcctl/svcctl/internal/data/dirstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/s3"
	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/svc"
)

// volumesConfig names the data of s.
func volumesConfig(s svc.RuntimeSpec, log *slog.Logger, report func(op, result string, took time.Duration)) (c dataplane.Config, err error) {
	data, err := place(s.Host.Storage, s.Host.Storage.Data, report)
	if err != nil {
		return c, err
	}
	manifests := data // one bucket is listed once
	if s.Host.Storage.Manifests != s.Host.Storage.Data {
		if manifests, err = place(s.Host.Storage, s.Host.Storage.Manifests, report); err != nil {
			return c, err
		}
	}
	branches, err := branch.New(branch.Config{Data: data, Manifests: manifests, LeaseTTL: s.Host.Storage.Lease, Grace: s.Host.Storage.Grace, Logger: log})
	return dataplane.Config{
		Ref: s.Ref, Parent: s.Parent, Warm: s.Local.Warm, Dir: s.Local.DataDir, Bucket: data, Branches: branches, Owner: s.Host.Storage.Owner, Lease: s.Host.Storage.Lease,
		Sync: s.Host.Storage.Sync, Window: s.Host.Storage.Window, History: s.Host.Storage.History, Logger: log,
		DiskLimit: int64(s.Host.DiskMB) << 20, LogDir: s.Local.LogDir, CountBlobs: s.Host.Storage.OnNode(),
	}, err
}

// readAhead reads what a version that s describes without its data will need of its parent's.
func readAhead(ctx context.Context, s svc.RuntimeSpec, log *slog.Logger, report func(op, result string, took time.Duration)) (*dataplane.Ahead, error) {
	c, err := volumesConfig(s, log, report)
	if err != nil || s.Parent == "" {
		return nil, err
	}
	c.Ref.Version, c.Parent = s.Parent, ""
	return dataplane.ReadAhead(ctx, c)
}

func place(s svc.Storage, p svc.Place, report func(op, result string, took time.Duration)) (objstore.Bucket, error) {
	if p.Dir != "" {
		return dirstore.Open(p.Dir)
	}
	store, err := s3.New(s3.Config{Endpoint: s.Endpoint, Region: s.Region, AccessKey: s.AccessKey, SecretKey: svc.Secret(s.SecretKey), Report: report})
	if err != nil {
		return nil, err
	}
	return store.Bucket(p.Bucket, p.Prefix), nil
}

// archive brings the data of a version into the object store. The daemon hears of
// the requests before the answer, after which it kills the host.
func archive(log *slog.Logger, requests *counts, server *control.Server) func(context.Context, svc.RuntimeSpec) error {
	return func(ctx context.Context, s svc.RuntimeSpec) error {
		defer func() { _ = server.Tell(control.Notice{Requests: requests.take()}) }()
		c, err := volumesConfig(s, log, requests.add)
		if err != nil {
			return err
		}
		v, err := dataplane.Open(ctx, c)
		if err != nil {
			return err
		}
		if err := collectObjects(ctx, s, v, log); err != nil {
			return errors.Join(err, v.Close()) //nolint:contextcheck // what was begun is ended
		}
		return v.Archive(ctx)
	}
}
