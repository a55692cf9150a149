import type { ActionExplainer, Dict } from "../action.ts";

/** Shows sent mails in reports. */
export const smtpExplainer: ActionExplainer = {
  describe: (req, res) => ({
    request: {
      title: `mail by ${req.addr} from ${req.from} to ${textOf(req.to)}`,
      covered: ["addr", "from", "to"],
      kept: { addr: req.addr!, from: req.from!, to: req.to!, ...messageOf(req, res) },
    },
    ...res ? { response: { kept: withoutMail(res) } } : {},
  }),
  testHint: (parts) =>
    parts.includes("status") || parts.includes("res.code")
      ? "status is 0 if the server accepted every mail for every recipient; " +
        "res.rejected and res.error say what it refused"
      : undefined,
};

/** The headers as they were sent, and the text as the step gives it. */
function messageOf(req: Dict, res: Dict | null): Dict {
  const { addr: _, from: _f, to: _t, subject, headers, ...rest } = req;
  if (typeof res?.maildata !== "string") {
    return { ...subject === undefined ? {} : { subject }, ...headers ? { headers } : {}, ...rest };
  }
  return { headers: headersOf(res.maildata), ...rest };
}

function headersOf(mail: string): Dict {
  const [head = ""] = mail.split(/\r?\n\r?\n/, 1);
  const lines = head.replace(/\r?\n[ \t]+/g, " ").split(/\r?\n/);
  return Object.fromEntries(lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  }));
}

function withoutMail(res: Dict): Dict {
  const { maildata: _, filepath: _f, ...kept } = res;
  return kept;
}

function textOf(to: Dict[string] | undefined): string {
  return Array.isArray(to) ? to.join(", ") : String(to);
}
