-- Names are found however a keyboard writes them: ß as ss, ł as l, without apostrophes, with any blank, and their words joined.
-- The same letters are folded in the words of a search (`domain/member_query/words.rs`).
DROP VIEW member_words;
CREATE VIEW member_words AS WITH
    spaced AS (
        SELECT member_id, phone,
               replace(replace(replace(replace(
                   real_name, char(160), ' '), char(8239), ' '), char(8201), ' '), char(12288), ' ') AS name,
               iif(screen_name = real_name, '', ' ' || screen_name)
                   || iif(username IN (real_name, screen_name), '', ' ' || username)
                   || iif(username = substr(email, 1, instr(email, '@') - 1), '', ' ' || substr(email, 1, instr(email, '@') - 1))
                   AS others
        FROM members
    ),
    split AS (
        SELECT member_id, phone, replace(replace(replace(name, '-', ' '), '.', ' '), '_', ' ') AS name,
               replace(replace(replace(others, '-', ' '), '.', ' '), '_', ' ') AS others
        FROM spaced
    ),
    joined AS (
        SELECT member_id, phone,
               ' ' || name || others || iif(instr(trim(name), ' ') = 0, '', ' ' || replace(name, ' ', '')) AS names
        FROM split
    ),
    folded1 AS (
        SELECT member_id, phone,
        replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(names
        , 'ß', 'ss'), 'ẞ', 'ss'), 'æ', 'ae'), 'Æ', 'ae'), 'œ', 'oe'), 'Œ', 'oe'), 'þ', 'th'), 'Þ', 'th'), 'ĳ', 'ij')
        , 'Ĳ', 'ij'), 'ﬀ', 'ff'), 'ﬁ', 'fi'), 'ﬂ', 'fl'), 'ﬃ', 'ffi') AS names
        FROM joined
    ),
    folded2 AS (
        SELECT member_id, phone,
        replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(names
        , 'ﬄ', 'ffl'), 'ﬆ', 'st'), 'ø', 'o'), 'Ø', 'o'), 'ł', 'l'), 'Ł', 'l'), 'đ', 'd'), 'Đ', 'd'), 'ð', 'd')
        , 'Ð', 'd'), 'ħ', 'h'), 'Ħ', 'h'), 'ŋ', 'n'), 'Ŋ', 'n') AS names
        FROM folded1
    ),
    folded3 AS (
        SELECT member_id, phone,
        replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(names
        , 'ı', 'i'), 'İ', 'i'), 'ά', 'α'), 'Ά', 'α'), 'έ', 'ε'), 'Έ', 'ε'), 'ή', 'η'), 'Ή', 'η'), 'ί', 'ι'), 'Ί', 'ι')
        , 'ϊ', 'ι'), 'ΐ', 'ι'), 'ό', 'ο'), 'Ό', 'ο') AS names
        FROM folded2
    ),
    folded4 AS (
        SELECT member_id, phone,
        replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(names
        , 'ύ', 'υ'), 'Ύ', 'υ'), 'ϋ', 'υ'), 'ΰ', 'υ'), 'ώ', 'ω'), 'Ώ', 'ω'), 'ς', 'σ'), 'ё', 'е'), 'Ё', 'е'), '''', '')
        , '’', ''), '‘', ''), 'ʼ', ''), '′', '') AS names
        FROM folded3
    ),
    folded5 AS (
        SELECT member_id, phone,
        replace(replace(replace(names
        , '`', ''), '´', ''), '＇', '') AS names
        FROM folded4
    )
SELECT member_id, names || ' ' || phone AS words FROM folded5;
INSERT INTO members_search (members_search) VALUES ('rebuild');
