"""Templates that try to hold their process. `text` has 300,000 characters, `items` 20,000 items, `deep` 60 levels."""

from __future__ import annotations

_TEXT_FILTERS = (
    "append: Variables.text", "prepend: Variables.text", "replace: 'a', Variables.text", "replace: Variables.half, 'x'",
    "replace_first: Variables.half, 'x'", "replace_last: Variables.half, 'x'", "remove: Variables.half",
    "remove_first: Variables.half", "remove_last: Variables.half", "split: ''", "split: Variables.half", "upcase",
    "downcase", "capitalize", "strip", "lstrip", "rstrip", "strip_html", "strip_newlines", "newline_to_br", "escape",
    "escape_once", "url_encode", "url_decode", "base64_encode", "base64_decode", "truncate: 299999", "truncatewords: 99999",
    "squish", "slice: 0, 299999", "size", "json", "base64", "date: '%Y'", "times: Variables.text", "plus: Variables.text",
)  # fmt: skip

_ITEM_FILTERS = (
    "uniq", "sort", "sort_natural", "reverse", "join: Variables.text", "json", "map: 'x'", "where: 'x', 1", "compact",
    "concat: Variables.items", "first", "last", "size", "sum", "join", "slice: 0, 19999", "reject: 'x'", "find: 'x', 1",
    "has: 'x'", "sort_numeric",
)  # fmt: skip

_WRITTEN = (
    "{{" + " " * 49_000 + "}}",
    "{{" + " " * 49_000,
    "{%" + " " * 49_000 + "%}",
    "{% if" + " " * 49_000 + "%}{% endif %}",
    "{{ '" + "a" * 49_000,
    '{{ "' + "\\" * 49_000,
    "{{ a" + ".a" * 24_000 + " }}",
    "{{ a" + "[0]" * 16_000 + " }}",
    "{{ " + "[" * 20_000 + " }}",
    "{{ " + "(" * 20_000 + " }}",
    "{{ 1" + " | plus: 1" * 4_900 + " }}",
    "{{ " + "9" * 49_000 + " }}",
    "{{ 1." + "9" * 49_000 + " }}",
    "{{ 9e" + "9" * 40_000 + " }}",
    "{" * 49_000,
    "{{" * 24_000,
    "{%" * 24_000,
    "{{-" * 16_000,
    "}}" * 24_000,
    "{% raw %}" * 5_000,
    "{% comment %}" * 3_500,
    "{% comment %}" + "{% endcomment" * 3_000,
    "{% if 1 %}" * 4_900,
    "{% if 1 %}" * 2_000 + "{% endif %}" * 2_000,
    "{% for a in b %}" * 1_500 + "{% endfor %}" * 1_500,
    "{% if " + "1 and " * 8_000 + "1 %}{% endif %}",
    "{% if " + "1 == 1 or " * 4_900 + "1 %}{% endif %}",
    "{% case 1 %}" + "{% when 1 %}" * 4_000 + "{% endcase %}",
    "{% liquid\n" + "echo 1\n" * 7_000 + "%}",
    "{% liquid " + "\n" * 49_000 + "%}",
    "{# " * 16_000,
    "{% cycle " + "1," * 24_000 + "1 %}",
    "{{ 'x' | replace: 'x'" + ", 'x'" * 9_000 + " }}",
)

_LOOPS = (
    "{% for a in (1..999999999) %}x{% endfor %}",
    "{% for a in (1..10000) %}{% for b in (1..10000) %}x{% endfor %}{% endfor %}",
    "{% for a in Variables.items %}{% for b in Variables.items %}x{% endfor %}{% endfor %}",
    "{% for a in Variables.items %}{{ Variables.text }}{% endfor %}",
    "{% for a in Variables.items %}{% assign x = x | append: Variables.text %}{% endfor %}{{ x }}",
    "{% assign x = 'ab' %}{% for a in (1..60) %}{% assign x = x | append: x %}{% endfor %}{{ x }}",
    "{% assign x = 3 %}{% for a in (1..60) %}{% assign x = x | times: x %}{% endfor %}{{ x }}",
    "{% capture x %}{% for a in (1..9999) %}{{ Variables.text }}{% endfor %}{% endcapture %}{{ x }}",
    "{% tablerow a in (1..9999) cols: 1 %}{% tablerow b in (1..9999) %}x{% endtablerow %}{% endtablerow %}",
    "{% for a in Variables.items reversed %}{{ Variables.items | sort | join }}{% endfor %}",
    "{% for a in Variables.items %}{{ Variables.items | uniq | size }}{% endfor %}",
    "{% for a in Variables.items %}{% if Variables.text contains Variables.half %}x{% endif %}{% endfor %}",
    "{% for a in Variables.items %}{% if Variables.items contains 'zz' %}x{% endif %}{% endfor %}",
    "{% for a in Variables.items %}{% if Variables.items == Variables.items %}x{% endif %}{% endfor %}",
    "{% if Variables.backwards contains Variables.half %}x{% endif %}",
    "{{ (1..999999999) | join }}",
    "{{ (1..999999999) | size }}",
    "{{ (1..9999) | join: Variables.text }}",
    "{{ Variables.deep }}",
    "{{ Variables.deep | json }}",
    "{{ Variables.items }}{{ Variables.items }}{{ Variables.items }}",
    "{% assign x = Variables.text | split: '' %}{{ x | uniq | size }}",
    "{% assign x = Variables.text | split: '' %}{{ x | sort | join }}",
    "{% assign x = Variables.items | concat: Variables.items %}{% for a in (1..40) %}{% assign x = x | concat: x %}{% endfor %}",
    "{% for a in (1..9999) %}{% increment x %}{% endfor %}{% for a in (1..9999) %}{% decrement x %}{% endfor %}",
    "{% for a in (1..9999) %}{% for b in (1..9999) %}{% continue %}{% endfor %}{% endfor %}",
)

BOMBS = (
    *(f"{{{{ Variables.text | {name} }}}}" for name in _TEXT_FILTERS),
    *(f"{{{{ Variables.items | {name} }}}}" for name in _ITEM_FILTERS),
    *_WRITTEN,
    *_LOOPS,
)
