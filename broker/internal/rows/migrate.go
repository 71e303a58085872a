package rows

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"strings"
)

// The migrations are numbered from 0001; a database's version is how many it
// has seen. One that was released is never changed.
//
//go:embed migrations/*.sql
var migrations embed.FS

// Dialect is how a database spells what the two do not spell alike.
type Dialect struct {
	Text  string // text that is ordered by its bytes
	Bytes string
}

// Migrate brings the database to this program's schema. The caller has a
// transaction open, alone, and commits it.
func Migrate(ctx context.Context, conn Conn, d Dialect) error {
	if _, err := conn.Exec(ctx, "CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)"); err != nil {
		return err
	}
	var version int64
	err := conn.Query(ctx, "SELECT COALESCE(MAX(version), 0) FROM schema_version", func(scan Scan) error { return scan(&version) })
	if err != nil {
		return err
	}
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return err
	}
	if known := int64(len(files)); version > known {
		return fmt.Errorf("the broker's database has schema %d, this pinfold knows up to %d: a newer pinfold made it", version, known)
	}
	spell := strings.NewReplacer("{text}", d.Text, "{bytes}", d.Bytes)
	for _, file := range files[version:] {
		text, err := migrations.ReadFile(file)
		if err != nil {
			return err
		}
		for _, statement := range strings.Split(spell.Replace(string(text)), ";\n") {
			if strings.TrimSpace(statement) == "" {
				continue
			}
			if _, err := conn.Exec(ctx, statement); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
		}
		version++
		if _, err := conn.Exec(ctx, "INSERT INTO schema_version (version) VALUES ($1)", version); err != nil {
			return err
		}
	}
	return nil
}
