package daemon

import (
	"context"

	"github.com/svcctl/svcctl/internal/host/provision"
	"github.com/svcctl/svcctl/internal/lib/machine"
	"github.com/svcctl/svcctl/internal/server/upkeep/backup"
	"github.com/svcctl/svcctl/internal/svc"
)

// State returns where the daemon keeps its data, and what of it is copied. A record of the
// last backup that cannot be read is logged and left out.
func (d *Daemon) State(ctx context.Context) (svc.ServerState, error) {
	disk, err := machine.DiskOf(d.cfg.DataDir)
	if err != nil {
		return svc.ServerState{}, err
	}
	s := svc.ServerState{DataDir: d.cfg.DataDir, DiskTotal: disk.Total, DiskFree: disk.Free, ObjectStore: d.cfg.S3.Endpoint, WorkerdVersion: provision.Pinned().VersionLine, WorkerdPath: d.workerd}
	if d.copies != nil {
		s.RegistryCopiedAt = d.copies.Copied()
		s.RegistryBehind, _ = d.copies.Behind()
	}
	for _, r := range d.supervisor.Runtimes() {
		s.DataBehind = max(s.DataBehind, r.Behind)
	}
	last, err := backup.ReadRecord(d.cfg.DataDir)
	if err != nil {
		d.logger.WarnContext(ctx, "the time of the last backup is unknown", "error", err)
	}
	s.BackupAt, s.BackupTo = last.At, last.To
	return s, nil
}
