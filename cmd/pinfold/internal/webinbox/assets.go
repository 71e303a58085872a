package webinbox

import (
	"embed"
	"io/fs"
	"net/http"
	"path"
)

// files are the page: plain HTML, CSS and scripts, as they are sent.
//
//go:embed assets
var files embed.FS

// types are what the files are; another ending is not served.
var types = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

func (s *Server) asset(w http.ResponseWriter, r *http.Request) { s.file(r.PathValue("name"))(w, r) }

// file sends one of the files.
func (s *Server) file(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		data, err := fs.ReadFile(s.opt.files, "assets/"+name)
		kind := types[path.Ext(name)]
		if err != nil || kind == "" {
			writeError(w, http.StatusNotFound, "not_found", "there is nothing here")
			return
		}
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write(data) // likewise
	}
}
