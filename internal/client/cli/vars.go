package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/build"
	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/dotenv"
	"github.com/svcctl/svcctl/internal/client/project"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// varOptions are the variables and secrets of a version.
type varOptions struct {
	pairs    []string
	envFiles []string
	secrets  []string
}

func (o *varOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&o.pairs, "var", nil, "variable of this version, NAME=VALUE or NAME:VALUE; may be repeated")
	f.StringArrayVar(&o.envFiles, "env-file", nil, "file of variables, as .env; may be repeated")
	f.StringArrayVar(&o.secrets, "secrets-file", nil, `file of secrets, as .env or a JSON object; "-" for standard input; may be repeated`)
}

// read gives the variables: those of --var win over those of --secrets-file, and those
// over --env-file. No error holds a value.
func (o *varOptions) read(k *kit.Kit) (map[string]string, error) {
	env := map[string]string{}
	for _, from := range []struct {
		flag  string
		files []string
		parse func([]byte) (map[string]string, error)
	}{{"--env-file", o.envFiles, dotenv.Parse}, {"--secrets-file", o.secrets, dotenv.ParseAny}} {
		for _, name := range from.files {
			text, err := k.ReadFile(name)
			if err != nil {
				return nil, kit.Usagef("%s: %v", from.flag, err)
			}
			vars, err := from.parse(text)
			if err != nil {
				return nil, kit.Usagef("%s %s: %v", from.flag, name, err)
			}
			maps.Copy(env, vars)
		}
	}
	for _, pair := range o.pairs {
		name, value, ok := variable(pair)
		if !ok {
			return nil, kit.Usagef("--var must be NAME=VALUE") // the value may be a secret: it is not repeated
		}
		env[name] = value
	}
	return env, nil
}

// variable reads NAME=VALUE, or NAME:VALUE as wrangler has it. No name has either character.
func variable(pair string) (name, value string, ok bool) {
	i := strings.IndexAny(pair, "=:")
	if i <= 0 {
		return "", "", false
	}
	return pair[:i], pair[i+1:], true
}

// checkSecrets returns an error that names each secret of the project file that the
// deploy does not set. A child inherits those of its parent.
func checkSecrets(ctx context.Context, k *kit.Kit, c *client.Client, built *build.Result, req api.CreateVersion) error {
	missing := without(built.Config.Secrets, req.Env)
	if len(missing) > 0 && (parentID(req) != "" || req.PreviewName != "") {
		if k.NeedAdmin("") != nil {
			k.Notef("secrets.required is not checked: reading the variables of %s needs the admin token", cmp.Or(parentID(req), "the preview"))
			return nil //nolint:nilerr // the note has told the user
		}
		inherited, err := inheritedEnv(ctx, c, built.Project, req)
		if err != nil {
			return nil //nolint:nilerr // the create says what is wrong with the parent
		}
		missing = without(missing, inherited)
	}
	if len(missing) > 0 && k.NeedAdmin("") == nil {
		missing = without(missing, sealedNames(ctx, c, built.Project, req))
	}
	if len(missing) == 0 {
		return nil
	}
	var fields []svc.FieldError
	for i, s := range missing {
		fields = append(fields, svc.FieldError{
			Pointer: fmt.Sprintf("/secrets/required/%d", i), Code: svc.CodeSecretMissing, Detail: s.At + ": the secret " + s.Name + " is required and not set",
		})
	}
	e := svc.Errorf(svc.Unprocessable, svc.CodeSecretMissing, "%s", fields[0].Detail).WithHint("use --secrets-file FILE, or --var %s=VALUE; or set it for the project: svcctl secret put %[1]s", missing[0].Name)
	if len(fields) > 1 {
		e.Detail, e.Fields = fmt.Sprintf("%d required secrets are not set", len(fields)), fields
	}
	return e
}

// sealedNames gives the names of the secrets of the project that the version of req gets. A server that
// does not say has none.
func sealedNames(ctx context.Context, c *client.Client, inProject string, req api.CreateVersion) map[string]string {
	names := map[string]string{}
	list, err := c.Secrets(ctx, inProject)
	if err != nil {
		return names // the create says what is wrong with the project
	}
	class := api.SecretClassRelease
	if previewClass(list, req) {
		class = api.SecretClassPreview
	}
	for _, s := range list.Items {
		if s.Class == class {
			names[s.Name] = ""
		}
	}
	return names
}

// inheritedEnv gives the variables, the values hidden, that the server adds to those of req.
func inheritedEnv(ctx context.Context, c *client.Client, inProject string, req api.CreateVersion) (map[string]string, error) {
	parent, env := parentID(req), map[string]string{}
	if req.PreviewName != "" || parent == svc.ParentProduction {
		p, err := c.Project(ctx, inProject)
		if err != nil {
			return nil, err
		}
		if req.PreviewName != "" {
			maps.Copy(env, p.PreviewEnv)
			parent = cmp.Or(parent, previewParent(ctx, c, p, req))
		}
		if parent == svc.ParentProduction {
			parent = p.ProdVersionID
		}
	}
	if parent == atProduction {
		p, err := c.Project(ctx, inProject)
		if err != nil {
			return nil, err
		}
		parent = p.ProdVersionID
	}
	if parent == "" {
		return env, nil
	}
	v, err := c.Version(ctx, inProject, parent)
	maps.Copy(env, v.Env)
	return env, err
}

// previewParent is the version whose data a version with a preview name begins with if the
// request names none: the last one of the name, else that of the project; "" for none.
func previewParent(ctx context.Context, c *client.Client, p api.Project, req api.CreateVersion) string {
	parent := p.PreviewParent
	if last, err := c.Preview(ctx, p.ID, req.PreviewName); err == nil && !req.PreviewFresh {
		parent = cmp.Or(last.VersionID, parent)
	}
	return parent
}

// without gives the secrets that env lacks.
func without(secrets []project.Secret, env map[string]string) []project.Secret {
	var missing []project.Secret
	for _, s := range secrets {
		if _, ok := env[s.Name]; !ok {
			missing = append(missing, s)
		}
	}
	return missing
}
