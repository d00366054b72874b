// Command walkthrough is `make walkthrough`: it runs the program in a pseudo terminal as a
// developer and a pipeline would, and records what the terminal shows. Each chapter becomes
// an image (docs/images/walkthrough) and a text between the marks of its name in a guide:
//
//	<!-- walkthrough: dev -->
//	<!-- end -->
//
// A chapter is written only if it says something new: a recording that differs in times,
// sizes, hashes or ids alone keeps the old files. With -again every chapter is written.
//
// It runs on Linux. All processes that it starts end with it.
package main
