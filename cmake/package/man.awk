# SPDX-License-Identifier: MIT
# A man page (troff) from the text that a program's --help prints.
#   PROGRAM --help | awk -v title=MXQ -v version=0.1.0 -v see="mxq(1)" -f man.awk
# The first line is "NAME - SUMMARY" or a usage line; headings are lines like "Examples:".
function escape(text) {
  gsub(/\\/, "\\e", text)
  gsub(/-/, "\\-", text)
  if (text ~ /^[.']/) text = "\\&" text
  return text
}
function verbatim(wanted) {
  if (wanted && !inside) print ".nf"
  if (!wanted && inside) print ".fi"
  inside = wanted
}
function section(name) {
  verbatim(0)
  print ".SH " toupper(name)
  heading = name
  blank = 0
}
NR == 1 {
  printf ".TH %s 1 \"\" \"mxq %s\" \"mxq\"\n", title, version
  print ".SH NAME"
  if (split($0, parts, / - /) > 1) {
    sub(/ [0-9.]+$/, "", parts[1])
    gsub(/ /, "-", parts[1])
    print escape(parts[1]) " \\- " escape(substr($0, index($0, " - ") + 3))
  } else {
    print escape($1) " \\- benchmark of the kernels that mxq makes"
    section("Synopsis")
    print escape($0)
    heading = "Usage"
  }
  next
}
/^$/ { blank = 1; next }
/^[A-Z][A-Za-z ]*:?$/ && length($0) < 20 {
  sub(/:$/, "")
  section($0 == "Usage" ? "Synopsis" : $0)
  if ($0 == "Usage") heading = "Usage"
  next
}
/^ / {
  if (blank && heading != "") print (inside ? "" : ".PP")
  verbatim(1)
  print escape($0)
  blank = 0
  next
}
{
  if (heading == "Usage") section("Description")
  else if (inside && heading != "Description") section("Notes")
  else if (blank) print (inside ? "" : ".PP")
  verbatim($0 ~ /^[a-z]+  /)
  print escape($0)
  blank = 0
}
END {
  verbatim(0)
  print ".SH SEE ALSO"
  print escape(see)
}
