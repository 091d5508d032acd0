-- The site's own authority, which kiosks and members' devices trust, and the certificate that it signed for this server.
CREATE TABLE tls (
    kind        TEXT    PRIMARY KEY CHECK (kind IN ('authority', 'server')),
    names       TEXT    NOT NULL,                    -- JSON: host names and addresses it is good for
    subject     TEXT    NOT NULL,                    -- the authority's name; the server's has the name of its first host
    certificate TEXT    NOT NULL,                    -- PEM
    sealed_key  BLOB    NOT NULL,                    -- PKCS#8, sealed
    created_at  INTEGER NOT NULL,
    ends_at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
