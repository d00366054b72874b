package runtimed

import (
	"context"
	"log/slog"

	"github.com/svcctl/svcctl/internal/branch"
	"github.com/svcctl/svcctl/internal/control"
	"github.com/svcctl/svcctl/internal/dataplane"
	"github.com/svcctl/svcctl/internal/dirstore"
	"github.com/svcctl/svcctl/internal/objstore"
	"github.com/svcctl/svcctl/internal/s3"
	"github.com/svcctl/svcctl/internal/svc"
)

// openVolumes opens the data that s names. It asks nothing of the store yet.
func openVolumes(ctx context.Context, s control.Spec, log *slog.Logger, report func(op, result string), lost func(error)) (*dataplane.Volumes, error) {
	data, err := place(s.Storage, s.Storage.Data, report)
	if err != nil {
		return nil, err
	}
	manifests := data // one bucket is listed once
	if s.Storage.Manifests != s.Storage.Data {
		if manifests, err = place(s.Storage, s.Storage.Manifests, report); err != nil {
			return nil, err
		}
	}
	branches, err := branch.New(branch.Config{Data: data, Manifests: manifests, LeaseTTL: s.Storage.Lease, Grace: s.Storage.Grace, Logger: log})
	if err != nil {
		return nil, err
	}
	return dataplane.Open(ctx, dataplane.Config{
		Ref: s.Ref, Parent: s.Parent, Warm: s.Warm, Dir: s.DataDir, Bucket: data, Branches: branches, Owner: s.Storage.Owner, Lease: s.Storage.Lease,
		Sync: s.Storage.Sync, Window: s.Storage.Window, Logger: log, Lost: lost,
	})
}

func place(s control.Storage, p control.Place, report func(op, result string)) (objstore.Bucket, error) {
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
func archive(log *slog.Logger, requests *counts, server *control.Server) func(context.Context, control.Spec) error {
	return func(ctx context.Context, s control.Spec) error {
		defer func() { _ = server.Requested(requests.take()) }()
		v, err := openVolumes(ctx, s, log, requests.add, nil)
		if err != nil {
			return err
		}
		return v.Archive(ctx)
	}
}
