package broker

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"

	"github.com/kraftsim/kraftsim/metadata/files"
)

// cleanShutdownName is the file that a broker leaves in each log directory when it ends in order (KIP-966, metadata-bootstrap 5.8). It
// holds the epoch of the incarnation that ended: the next one names it when it registers, and keeps its eligible replicas only if it is
// the epoch that the controller has. Its removal at the next start is not synced, in Kafka as here, so a power loss may bring it back; the
// epoch in it is then that of an incarnation before the last one, and proves nothing.
const cleanShutdownName = ".kafka_cleanshutdown"

// CleanShutdownPath is the file in a log directory.
func CleanShutdownPath(dir string) string { return dir + "/" + cleanShutdownName }

// TakeCleanShutdown reads the epoch that the incarnation before this one left in all its log directories, and removes the files: -1 unless
// each of them can be read and has the same one. dirs are all of the configuration, live those that can be used. What the disk refuses
// counts as not there.
func TakeCleanShutdown(f files.Files, dirs, live []string) (epoch int64) {
	epoch = -1
	whole := len(live) == len(dirs) && len(live) > 0
	for i, dir := range live {
		content, err := files.Read(f, CleanShutdownPath(dir))
		if errors.Is(err, fs.ErrNotExist) {
			whole = false
			continue
		}
		found := int64(-1)
		if err == nil {
			found = parseCleanShutdown(string(content))
		}
		whole = whole && found >= 0 && (i == 0 || found == epoch)
		epoch = found
		if err := f.Remove(CleanShutdownPath(dir)); err != nil {
			whole = false
		}
	}
	if !whole {
		return -1
	}
	return epoch
}

// parseCleanShutdown finds the epoch in the file's JSON, -1 for none.
func parseCleanShutdown(text string) int64 {
	body, isObject := strings.CutPrefix(strings.TrimSpace(text), "{")
	body, ends := strings.CutSuffix(body, "}")
	if !isObject || !ends {
		return -1
	}
	for _, field := range strings.Split(body, ",") {
		name, value, _ := strings.Cut(field, ":")
		if strings.TrimSpace(name) != `"brokerEpoch"` {
			continue
		}
		if epoch, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64); err == nil && epoch >= 0 {
			return epoch
		}
	}
	return -1
}

// LeaveCleanShutdown writes the file into the log directories that can be used. It is called when the process has given everything else up.
// A directory that fails is passed over, as Kafka does: without the file the shutdown counts as unclean.
func LeaveCleanShutdown(f files.Files, live []string, epoch int64) {
	content := []byte(`{"version":0,"brokerEpoch":` + strconv.FormatInt(epoch, 10) + `}`)
	for _, dir := range live {
		fd, err := f.Open(CleanShutdownPath(dir), true)
		if err != nil {
			continue
		}
		if f.Truncate(fd, 0) == nil && f.WriteAt(fd, content, 0) == nil {
			_ = f.Sync(fd) // a file that is lost proves nothing
		}
		_ = f.Close(fd) // read-only by now
	}
}
