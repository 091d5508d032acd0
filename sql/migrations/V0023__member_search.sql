-- What members are found by, as one text: words begin after a space, so that three letters say whether a word begins so.
CREATE VIEW member_words AS
SELECT member_id,
       replace(replace(replace(
           ' ' || real_name || iif(screen_name = real_name, '', ' ' || screen_name)
               || iif(username IN (real_name, screen_name), '', ' ' || username)
               || iif(username = substr(email, 1, instr(email, '@') - 1), '', ' ' || substr(email, 1, instr(email, '@') - 1)),
           '-', ' '), '.', ' '), '_', ' ') || ' ' || phone AS words
FROM members;

-- By every three letters in a row, without regard to case and accents. It keeps no text of its own.
CREATE VIRTUAL TABLE members_search USING fts5(
    words, content = 'member_words', content_rowid = 'member_id', columnsize = 0,
    tokenize = 'trigram remove_diacritics 1'
);
-- What is forgotten of somebody leaves the index at once, and not when it is next tidied.
INSERT INTO members_search (members_search, rank) VALUES ('secure-delete', 1);
INSERT INTO members_search (members_search) VALUES ('rebuild');

CREATE TRIGGER members_search_insert AFTER INSERT ON members BEGIN
    INSERT INTO members_search (rowid, words) SELECT member_id, words FROM member_words WHERE member_id = new.member_id;
END;
CREATE TRIGGER members_search_before BEFORE UPDATE OF real_name, screen_name, username, email, phone ON members BEGIN
    INSERT INTO members_search (members_search, rowid, words)
    SELECT 'delete', member_id, words FROM member_words WHERE member_id = old.member_id;
END;
CREATE TRIGGER members_search_after AFTER UPDATE OF real_name, screen_name, username, email, phone ON members BEGIN
    INSERT INTO members_search (rowid, words) SELECT member_id, words FROM member_words WHERE member_id = new.member_id;
END;
CREATE TRIGGER members_search_delete BEFORE DELETE ON members BEGIN
    INSERT INTO members_search (members_search, rowid, words)
    SELECT 'delete', member_id, words FROM member_words WHERE member_id = old.member_id;
END;
