package confine

// HandleOpen prepares the file at path, which a program is about to open and may create.
// The program waits. After an error its call fails with EIO. If the name could not be read
// from the memory of the program, path is empty and unread says why.
type HandleOpen func(path string, unread error) error
