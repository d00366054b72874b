package httpapi

import (
	"time"

	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// The wire forms of the records [D12]: absent strings are "", absent timestamps
// null, absent lists empty.

func (s *Server) projectOut(p svc.Project) api.Project {
	out := api.Project{
		ID: p.ID, GitRemote: p.GitRemote, ProdVersionID: p.ProdVersionID, PreviewParent: p.PreviewParent,
		CreatedAt: api.At(p.CreatedAt), UpdatedAt: api.At(p.UpdatedAt), Guard: p.Guard, ReadOnly: p.ReadOnly,
	}
	if p.ProdVersionID != "" {
		out.ProdURL = s.Ingress.ProdURL(p.ID)
	}
	if len(p.PreviewEnv) > 0 {
		out.PreviewEnv = svc.HiddenEnv(p.PreviewEnv)
	}
	return out
}

// versionOut returns the record of a version, the values of its environment hidden.
func (s *Server) versionOut(origin string, v svc.Version) api.Version {
	out := api.Version{
		ID: v.Version, ProjectID: v.Project, GitRef: v.GitRef, GitSHA: v.GitSHA,
		ArtifactDigest: v.Digest, Env: svc.HiddenEnv(v.Env), Status: api.VersionStatus(v.Status),
		PreviewURL: s.Ingress.PreviewURL(v.Ref), ProdURL: s.Ingress.ProdURL(v.Project), PollURL: versionURL(origin, v.Ref),
		ReadyAt: api.MaybeAt(v.ReadyAt), Error: v.Error, ErrorOutput: v.ErrorOutput, CreatedAt: api.At(v.CreatedAt), UpdatedAt: api.At(v.UpdatedAt),
		ForkTXID: v.ForkTXID, Pinned: v.Pinned, PinnedBy: pinnedBy(v), IsProduction: v.Production,
		LastRequestAt: api.MaybeAt(v.LastRequestAt), WokenAt: api.MaybeAt(v.WokenAt),
		Timeline: stepsOut(v.Timeline), Warnings: v.Warnings, SizeBytes: v.SizeBytes,
	}
	out.Labels = v.Labels
	out.Events, out.ReleasedFrom, out.HandedOverTo = eventsOut(v), v.ReleasedFrom, v.HandedOverTo
	out.PreviewName, out.PreviewNameURL = v.PreviewName, s.nameURL(v)
	out.Waiting = workOut(v.Waiting)
	if v.ParentID != "" {
		out.ParentVersionID = &v.ParentID
	}
	out.ParentAt = api.At(v.ParentAt)
	out.ErrorStep, out.ErrorCode = v.Failure()
	out.ErrorInSources, out.ErrorOutputInSources = s.inSources(v.Ref, v.Error), s.inSources(v.Ref, v.ErrorOutput)
	now, ok := s.Runtimes.Runtime(v.Ref)
	if !ok && v.Status.Serves() {
		now.State = svc.RuntimeStopped
	}
	out.Runtime = runtimeOut(now)
	if out.Warnings == nil {
		out.Warnings = []string{}
	}
	return out
}

// inSources is a text about a version with places of its sources; "" if it has none that are known.
func (s *Server) inSources(ref svc.Ref, text string) string {
	if text == "" || s.InSources == nil {
		return ""
	}
	if mapped := s.InSources(ref, text); mapped != text {
		return mapped
	}
	return ""
}

// nameURL is the address of a version's preview name, "" without one.
func (s *Server) nameURL(v svc.Version) string {
	if v.PreviewName == "" {
		return ""
	}
	return s.Ingress.PreviewURL(svc.Ref{Project: v.Project, Version: v.PreviewName})
}

func (s *Server) previewOut(p svc.Preview) api.Preview {
	return api.Preview{
		Name: p.Name, ProjectID: p.Project, URL: s.nameURL(p.Newest),
		VersionID: p.Current.Version, Status: string(p.Current.Status),
		NewestVersionID: p.Newest.Version, NewestStatus: api.VersionStatus(p.Newest.Status), GitRef: p.Newest.GitRef, GitSHA: p.Newest.GitSHA,
		Versions: p.Versions, CreatedAt: api.At(p.Since), UpdatedAt: api.At(p.Newest.UpdatedAt),
	}
}

// pinnedBy says whose pin a version has.
func pinnedBy(v svc.Version) api.VersionPinnedBy {
	switch {
	case v.PinAuto:
		return api.VersionPinnedByRollback
	case v.Pinned:
		return api.VersionPinnedByUser
	}
	return ""
}

func stepsOut(runs []svc.StepRun) []api.StepRun {
	return each(runs, func(r svc.StepRun) api.StepRun {
		return api.StepRun{
			Step: r.Step, Status: api.StepStatus(r.Status), Detail: r.Detail,
			StartedAt: api.At(r.StartedAt), EndedAt: api.MaybeAt(r.EndedAt),
		}
	})
}

func promotionOut(p svc.Promotion) api.Promotion {
	out := api.Promotion{
		Kind: api.PromotionKind(p.Kind), CandidateVersionID: p.Candidate,
		OperationID: p.ID, ProjectID: p.Project, VersionID: p.Version, PreviousVersionID: p.Previous,
		Reason: p.Reason, Status: api.PromotionStatus(p.Status), Error: p.Error, Steps: stepsOut(p.Steps),
		CreatedAt: api.At(p.CreatedAt), FinishedAt: api.MaybeAt(p.FinishedAt),
		HeldMs: maybeMillis(p.CutOver.Held), WindowMs: maybeMillis(p.CutOver.Window),
		Unmerged: unmergedOut(p.Left.Unmerged), Waiting: waitingOut(p.Left.Waiting),
	}
	if p.Kind == svc.KindRelease {
		out.Moved = &api.MovedWork{Instances: p.Released.MovedInstances, Alarms: p.Released.MovedAlarms}
		out.LateWritesRefused, out.ExpectedHoldMs = p.Released.LateRefused, millisOf(p.Released.Expected)
		out.HoldSteps = holdStepsOut(p.Released.Steps)
		out.Watch = watchOut(p.Watch)
	}
	return out
}

// maybeMillis returns nil for a time that is not known.
func maybeMillis(d time.Duration) *float64 {
	if d == 0 {
		return nil
	}
	ms := float64(d.Microseconds()) / 1000
	return &ms
}

// each maps a slice; the result is never nil, so it is [] in JSON.
func each[T, U any](in []T, f func(T) U) []U {
	out := make([]U, 0, len(in))
	for _, v := range in {
		out = append(out, f(v))
	}
	return out
}

// The addresses of records.

func projectURL(origin, id string) string { return origin + "/v1/projects/" + id }

func versionURL(origin string, r svc.Ref) string {
	return projectURL(origin, r.Project) + "/versions/" + r.Version
}

func promotionURL(origin, project, id string) string {
	return projectURL(origin, project) + "/promotions/" + id
}
