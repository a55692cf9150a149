// Colours what the program prints, as it does itself in a terminal. The documents hold its output as
// plain text, which tests compare with real runs; a test compares these colours with real ones.

const paint = (start, end) => (text) => text === "" ? "" : `\x1b[${start}m${text}\x1b[${end}m`;
const [bold, dim] = [paint(1, 22), paint(2, 22)];
const [red, green, yellow, blue, cyan] = [31, 32, 33, 34, 36].map((code) => paint(code, 39));

/** Whether a text is what a run prints. */
export function isOutput(text) {
  return /^(● |[✓✗⚠!] .* [\d.]+m?s( |$)|Failures$|(Jobs|Steps) {6}| +\d+\. [✓✗○-] )/m.test(text);
}

/** The text with colour codes. */
export function colourOutput(text) {
  const lines = text.split("\n");
  const header = lines.indexOf("");
  let [below, inDifference, isPassed] = ["", false, false];
  return lines.map((line, index) => {
    const step = /^ +\d+\. ([✓✗○-]) /.exec(line);
    const job = /^([✓✗⚠!●-]) (.*)$/.exec(line);
    if (step) below = step[1];
    else if (line === "Failures") below = "F";
    else if (job) [below, isPassed] = ["", job[1] === "✓" || isClosed(lines, index, job)];
    else if (ROW.test(line)) below = "S";
    else if (/^ {4}[\d,]+ rounds? in /.test(line)) below = "L";
    if (/^ +- expected: /.test(line)) inDifference = true;
    else if (/^( {0,7}\S| +[\w ]+:$)/.test(line)) inDifference = false;
    if (index > 0 && index < header) return dim(line);
    return colourLine(line, { below, inDifference, isPassed, isFirst: index === 0, previous: lines[index - 1] ?? "" });
  }).join("\n");
}

/** Whether a job whose name comes before its steps ends well. */
function isClosed(lines, index, [, sign, name]) {
  return sign === "●" && lines.slice(index).some((line) => line.startsWith(`✓ ${name} `));
}

/** A row of the summary. */
const ROW = /^(Jobs|Steps|Workflows|Warning|Reason|Time|Snapshots|Reports|Next)( {2,})(.*)$/;

function colourRow([, label, space, value]) {
  const start = bold(label + space);
  if (label === "Warning") return start + yellow(value);
  if (label === "Reason") return start + red(value);
  if (!/\(.*\)$/.test(value)) return start + value;
  const hasWarning = value.includes("not tested");
  return start + value.replace(/\d+ [^·(]*?(?= ·| \()/g, (count) => {
    if (count.includes("passed")) return green(count);
    if (count.includes("failed")) return red(count);
    if (/known|allowed/.test(count)) return yellow(count);
    return count.includes("skipped") || !hasWarning ? dim(count) : blue(count);
  }).replace(/ ·/g, dim).replace(/\(.*\)$/, dim);
}

function colourLine(line, { below, inDifference, isPassed, isFirst, previous }) {
  let match = ROW.exec(line);
  if (match) return colourRow(match);
  if (below !== "F" && (match = /^( +\d+\.) (\S.*\(repeating .*)$/.exec(line))) return `${dim(match[1])} ${match[2]}`;
  if ((match = /^( +)([✓✗○-]) (\d+\/\d+ .*)$/.exec(line))) {
    const icon = match[2] === "✗" && isPassed ? yellow("✗") : colourIcon(match[2]);
    return `${match[1]}${icon} ${match[3]}`;
  }
  if ((match = /^( +)((?:[\w ]+: )?min \S+, mean .*|distribution: .*)$/.exec(line))) return match[1] + dim(match[2]);
  if ((match = /^( +)(repeat_index .*?:)(?: (.*))?$/.exec(line))) {
    return match[1] + dim(match[2]) + (match[3] ? ` ${blue(match[3])}` : "");
  }
  if ((match = /^(\S.*?)(  )(\S+\.ya?ml)$/.exec(line))) return bold(match[1]) + match[2] + dim(match[3]);
  if ((match = /^([✓✗⚠-]) (\S.*?)(  +)(\S+\.ya?ml)?( +[\d.]+m?s  )(.*\))$/.exec(line))) {
    const [, icon, title, space, file = "", time, counts] = match;
    return `${colourIcon(icon)} ${title}${space}${dim(file)}${time}${dim(counts)}`;
  }
  if ((match = /^( +\d+\.) ([✓✗○-]) (.*)$/.exec(line))) {
    return `${dim(match[1])} ${colourIcon(match[2])} ${colourStep(match[2], match[3])}`;
  }
  if ((match = /^([✓✗⚠!-]) (.*?) ([\d.]+m?s(?:  ?\S.*)?)$/.exec(line)) && !match[2].includes(" › ")) {
    return `${colourIcon(match[1])} ${bold(match[2])} ${dim(match[3])}`;
  }
  if ((match = /^([✓✗○-]) (.*)$/.exec(line)) && match[1] !== "-") {
    const [, text, place] = /^(.*?)(?:   (\S+:\d+))?$/.exec(match[2]);
    const where = place === undefined ? "" : `   ${cyan(place)}`;
    return `${colourIcon(match[1])} ${colourStep(match[1], text)}${where}`;
  }
  if ((match = /^● (.*)$/.exec(line))) return `${cyan("●")} ${bold(match[1])}`;
  if (/^- .* \(skipped/.test(line)) return dim(line);
  if (line === "Failures") return bold(line);
  if (below === "F") return colourRecap(line);
  if (below === "L" && (match = /^( {6})(step +count .*|([✓✗]) (.*))$/.exec(line))) {
    return match[1] + (match[3] ? `${colourIcon(match[3])} ${match[4]}` : dim(match[2]));
  }
  if (isFirst) return bold(line);
  const detail = colourDetail(line, below, previous);
  return inDifference && detail === line ? dim(line) : detail;
}

function colourIcon(icon) {
  if (icon === "-") return dim(icon);
  return icon === "✓" ? green(icon) : icon === "✗" ? red(icon) : icon === "○" ? blue(icon) : yellow(icon);
}

function colourStep(icon, text) {
  if (icon === "-") return dim(text);
  const [, name, remark, assertions, wait, retry, time] =
    /^(.*?)( \([^()]*, not tested\))?( \([^()]* assertions(?: failed)?\))?( \(after [^()]*\))?( ↻ [^()]*)?( \([\d.]+m?s\))?$/
      .exec(text);
  return name + yellow(remark ?? "") + dim(assertions ?? "") + dim(wait ?? "") +
    yellow(retry ?? "") + dim(time ?? "");
}

/** A line of the list of failures at the end. */
function colourRecap(line) {
  let match;
  if ((match = /^( +\d+\. )(.*?)(?:(   )(\S+:\d+.*))?$/.exec(line))) {
    return dim(match[1]) + match[2] + (match[4] ? match[3] + cyan(match[4]) : "");
  }
  if ((match = /^( +also failed: .*   )(\S+:\d+.*)$/.exec(line))) return match[1] + cyan(match[2]);
  if ((match = /^( {5})(\S.*)$/.exec(line)) && !match[2].startsWith("hint: ")) {
    return match[1] + red(match[2]);
  }
  return line;
}

/** A line below a step. */
function colourDetail(line, below, previous) {
  const [, indent, text] = /^( *)(.*)$/.exec(line);
  if (indent.length < (below === "L" ? 6 : 8) || text === "") return line;
  if (below === "✓" || below === "○") return indent + blue(text);
  if (/^\| +\^/.test(text)) {
    // The marks begin where the line number does.
    const [, before] = /^( *\d* )/.exec(previous) ?? ["", ""];
    const start = Math.min(indent.length, /^ */.exec(before)[0].length);
    return line.slice(0, start) + red(line.slice(start));
  }
  if (/^[\w./-]+:\d+:\d+: /.test(text)) return indent + red(text);
  if (/^(request|response|reproduce with):$/.test(text)) return indent + blue(text);
  if (/^request and response: /.test(text)) return indent + dim(text);
  if (/^- expected: /.test(text)) return indent + green(text);
  if (/^\+ received: /.test(text)) return indent + red(text);
  if (/^@ /.test(text)) return indent + cyan(text);
  if (indent.length === 8 && /^- /.test(text)) return indent + green(text);
  if (indent.length === 8 && /^\+ /.test(text)) return indent + red(text);
  return line;
}

const NAMES = {
  1: "bold",
  2: "dim",
  31: "red",
  32: "green",
  33: "yellow",
  34: "blue",
  35: "magenta",
  36: "cyan",
};

/** A block of text with colour codes, as VitePress makes its blocks of code. */
export function renderOutput(text, escape) {
  let names = [];
  const spans = [...text.trimEnd().matchAll(/\x1b\[(\d+)m|([^\x1b]+)/g)].map(([, code, shown]) => {
    if (code === "22") names = names.filter((name) => !["bold", "dim"].includes(name));
    else if (code === "39") names = names.filter((name) => ["bold", "dim"].includes(name));
    else if (code !== undefined) names = [...names, NAMES[code]];
    else return names.length === 0 ? escape(shown) : `<span class="${names.join(" ")}">${escape(shown)}</span>`;
    return "";
  });
  return '<div class="language- terminal" v-pre><button title="Copy Code" class="copy"></button><span class="lang"></span>' +
    `<pre tabindex="0"><code>${spans.join("")}</code></pre></div>\n`;
}
