package main

import "github.com/svcctl/svcctl/internal/client/foreign"

const wordsHead = `# Words of other tools
` + notice + `
Commands and flags of wrangler and other tools, and what to type instead. ` + "`svcctl`" + ` answers with these lines, too: a row with "runs" runs the
command, any other one ends with exit code 2 and, with ` + "`-o json`, the code `foreign_command` and the commands in `next`" + `. The names of your project stand in
the place of words in capitals, where svcctl knows them. VERSION is the id of a version, or PROJECT/VERSION.

A command that svcctl has itself is not here: [the commands](cli/README.md). [Coming from wrangler](../start/from-wrangler.md) says what works in another way.
`

// addWords writes the page of the words of other tools.
func addWords(out files) error {
	out["docs/reference/words.md"] = []byte(wordsHead + foreign.Page())
	return nil
}
