// Package cli is the command line of a simulator as a library: give it a catalogue of scenarios and it is a program.
//
//	func main() {
//		os.Exit(cli.Main(mycatalogue(), os.Args[1:]))
//	}
//
// That program runs single seeds (run), repeats failures (replay), shortens them (shrink), runs many seeds in many processes
// (campaign, campaigns, merge, verify-fix), checks that runs repeat bit for bit (verify), and shows what there is (plan, list). Campaigns start the same
// binary again as workers (hidden command worker), so nothing else is needed next to it.
//
// Every command prints its effective configuration first, as one line that can be pasted, and takes --json. Exit codes:
//
//	0  all is well; also for a run that is legitimately stuck, and with declared hazards
//	1  a finding: an invariant broken, a run stuck, a condition never met, runs that differ, a heap beyond 4 GiB
//	2  bad usage or bad input, told in one line that names the file and the field; nothing is written
//	3  a defect of the program itself, a planted bug that a campaign did not find, or a file that could not be written
//
// A program with commands of its own passes them to Main; one that wants more flags on run sets App.RunHook.
package cli
