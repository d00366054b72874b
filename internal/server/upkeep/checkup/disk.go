package checkup

import (
	"context"

	"github.com/svcctl/svcctl/internal/lib/machine"
	"github.com/svcctl/svcctl/internal/lib/text"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	// littleDisk is the room in bytes, and leastShare the share of the disk, below which the
	// check warns; it fails below noDisk.
	littleDisk = 2 << 30
	leastShare = 20 // a twentieth
	noDisk     = 256 << 20
)

// Disk checks the room on the disk of the data directory.
func Disk(dir string, of func(path string) (machine.Disk, error)) Check {
	return Check{"disk", func(context.Context) svc.Finding {
		d, err := of(dir)
		if err != nil {
			return svc.Found(svc.FindingFailed, "%v", err).WithAdvice("check the disk of SVC_DATA_DIR")
		}
		status := svc.FindingOK
		switch {
		case d.Free < noDisk:
			status = svc.FindingFailed
		case d.Free < littleDisk || d.Free < d.Total/leastShare:
			status = svc.FindingWarning
		}
		f := svc.Found(status, "%s of %s free at %s", text.Bytes(d.Free), text.Bytes(d.Total), dir)
		if status != svc.FindingOK {
			f = f.WithAdvice("free space, enlarge the disk, or delete versions: svcctl versions destroy, SVC_KEEP_ARCHIVED")
		}
		return f
	}}
}
