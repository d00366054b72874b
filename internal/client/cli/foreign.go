package cli

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/cli/tree"
	"github.com/svcctl/svcctl/internal/client/foreign"
	"github.com/svcctl/svcctl/internal/client/project"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/client"
)

// answerForeign answers a command line of another tool (internal/client/foreign): with the command that it stands for, or
// with an error that names it. It answers only what svcctl has refused, so that it never hides a command.
func answerForeign(k *kit.Kit, f tree.Failed) (instead []string, better error) {
	exists := func(words []string) bool { return hasCommand(f.Root, words) }
	m, ok := foreign.Find(foreign.Refused{Args: f.Args, Flag: f.Flag(), Exists: exists})
	if !ok || f.Ran && (!exists(m.Literals()) || !mayBeForeign(f.Err)) {
		return nil, nil
	}
	readGlobals(f)
	if m.Alias {
		instead = m.Instead(f.Args)
		k.Notef("running: svcctl %s", strings.Join(instead, " "))
		return instead, nil
	}
	hint, next := m.Hint(namesOf(k))
	if lacks := m.Refusal(exists(m.Literals())); lacks != "" {
		return nil, kit.Foreign(lacks+": "+hint, next)
	}
	return nil, &kit.Hinted{Err: f.Err, Hint: hint, Next: next}
}

// readGlobals reads the flags of all commands, such as --output and --cwd: cobra reads no flag of an unknown command.
func readGlobals(f tree.Failed) {
	flags := f.Root.PersistentFlags()
	flags.ParseErrorsAllowlist.UnknownFlags = true
	args := slices.DeleteFunc(slices.Clone(f.Args), func(arg string) bool { return arg == "-h" || arg == "--help" })
	_ = flags.Parse(args) // the command line is refused already
}

// mayBeForeign reports whether a command failed as one does whose arguments are those of another tool: wrangler names a
// database where svcctl names a version.
func mayBeForeign(err error) bool {
	_, usage := errors.AsType[*kit.UsageError](err)
	return usage || client.CodeOf(err) == svc.CodeVersionNotFound
}

// hasCommand reports whether a tree has a command, by its names and aliases.
func hasCommand(cmd *cobra.Command, words []string) bool {
	for _, word := range words {
		at := slices.IndexFunc(cmd.Commands(), func(c *cobra.Command) bool { return c.Name() == word || c.HasAlias(word) })
		if at < 0 {
			return false
		}
		cmd = cmd.Commands()[at]
	}
	return true
}

// namesOf are the names of the project of the working directory; empty without one.
func namesOf(k *kit.Kit) foreign.Names {
	names := foreign.Names{}
	file, _, err := project.Load(k.Path(""), project.Options{Environ: k.Environ, Engine: k.Engine})
	if err != nil {
		return names
	}
	names["PROJECT"] = file.Name
	for _, d := range file.Databases {
		name(names, "DATABASE", d.Name, d.Binding)
	}
	for _, n := range file.KV {
		name(names, "NAMESPACE", n.ID, n.Binding)
	}
	for _, b := range file.Buckets {
		name(names, "BUCKET", b.Name, b.Binding)
	}
	for _, w := range file.Workflows {
		name(names, "WORKFLOW", w.Name, w.Name)
	}
	for _, q := range file.Producers {
		name(names, "QUEUE", q.Queue, q.Queue)
	}
	return names
}

// name adds a thing of the project: the first one of its kind stands for the kind.
func name(names foreign.Names, kind, id, use string) {
	names[kind] = cmp.Or(names[kind], use)
	names[kind+" "+id] = use
}
