-- The derived search index. Only wayfare.lexical.index reads and writes it.

CREATE TABLE documents (
    number INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    digest TEXT NOT NULL,
    parent TEXT,
    place INTEGER,
    length REAL NOT NULL
);
CREATE INDEX documents_by_parent ON documents (parent, place, key) WHERE parent IS NOT NULL;

-- Weighted word counts of a document, msgpack: apart, so that a scan of the documents stays short.
CREATE TABLE counts (
    number INTEGER PRIMARY KEY,
    words BLOB NOT NULL
);

-- In how many documents a word occurs.
CREATE TABLE words (
    word TEXT PRIMARY KEY,
    documents INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE totals (
    documents INTEGER NOT NULL,
    length REAL NOT NULL
);
INSERT INTO totals VALUES (0, 0);

-- Every word as often as it weighs, already split: the tokenizer must leave it alone.
CREATE VIRTUAL TABLE postings USING fts5 (
    words, content = '', tokenize = "ascii tokenchars '.+#@~_-'"
);
