import { StepError } from "../../base/errors.ts";
import type { Dict, Value } from "../../action/action.ts";
import type { ActionAttempt } from "../../action/attempt.ts";
import { textOf } from "../../action/parameter.ts";
import {
  type ConnectionPool,
  type Delivery,
  type Mail,
  type MailServer,
  openMail,
} from "./mail_connection.ts";
import type { Attachment } from "./mail_params.ts";

/** What a step says about its mails. */
interface MailParams {
  readonly from: string;
  readonly to: readonly string[];
  readonly cc?: readonly string[];
  readonly bcc?: readonly string[];
  readonly reply_to?: readonly string[];
  readonly subject: string;
  readonly body?: string;
  readonly html?: string;
  readonly headers?: Dict;
  readonly attachments?: readonly Attachment[];
  readonly myhostname: string;
  readonly session: number;
  readonly message: number;
  readonly length: number;
  readonly starttls?: boolean;
}

interface SendResult {
  readonly first: Mail;
  readonly deliveries: readonly Delivery[];
  /** Why sessions ended before their last mail. */
  readonly errors: readonly StepError[];
}

/** Sends the mails of a step in its sessions. Throws if not a single mail could be handed over. */
export async function sendMails(
  pool: ConnectionPool,
  server: MailServer,
  params: MailParams,
  attempt: ActionAttempt,
): Promise<SendResult> {
  const { message: total } = params;
  const compose = await makeComposer(params, attempt);
  const first = await compose();
  const sessions = Math.min(params.session, total);
  const deliveries: Delivery[] = [];
  const errors: StepError[] = [];
  await Promise.all(Array.from({ length: sessions }, async (_, session) => {
    const count = Math.floor(total / sessions) + (session < total % sessions ? 1 : 0);
    try {
      await pool.with(
        sessions,
        attempt,
        () => open(server, params, attempt),
        async (connection) => {
          for (let index = 0; index < count; index++) {
            const mail = session === 0 && index === 0 ? first : await compose();
            deliveries.push(await connection.send(mail, attempt));
          }
        },
      );
    } catch (error) {
      if (!(error instanceof StepError)) throw error;
      errors.push(error);
    }
  }));
  if (errors[0] && (deliveries.length === 0 || attempt.signal.aborted)) throw errors[0];
  return { first, deliveries, errors };
}

async function open(server: MailServer, { starttls }: MailParams, attempt: ActionAttempt) {
  const connection = await openMail(server, attempt);
  const isLocal = /^(localhost|127\.[\d.]+|::1)$/.test(server.host);
  if (server.auth && !connection.isSecure && !isLocal && starttls === undefined) {
    const text = `the password goes to ${attempt.address} without TLS`;
    attempt.context.warn(
      `${text}: the server does not offer STARTTLS; starttls: true demands it`,
    );
  }
  return connection;
}

/** Reads the files of the mails; the result writes one mail at each call. */
async function makeComposer(
  params: MailParams,
  attempt: ActionAttempt,
): Promise<() => Promise<Mail>> {
  const { default: MailComposer } = await import("nodemailer/lib/mail-composer");
  const { from, to, cc, bcc, html, subject } = params;
  const headers = headersOf(params.headers ?? {});
  const hasDate = Object.keys(headers).some((name) => /^date$/i.test(name));
  const isMarked = [params.session, params.message, params.length].some((count) => count > 1);
  const fields = {
    ...{ from, to, cc, bcc, html, replyTo: params.reply_to, text: textPart(params), headers },
    attachments: await Promise.all(
      (params.attachments ?? []).map((one) => readAttachment(one, attempt)),
    ),
    // A text may look like a path or a URL; only what was read above is sent.
    disableFileAccess: true,
    disableUrlAccess: true,
  };
  return async () => {
    const now = attempt.context.host.clock.now();
    const sentAt = `${now}${String(Math.trunc(Math.random() * 1e6)).padStart(6, "0")}`;
    const id = `${sentAt}.${crypto.randomUUID().slice(0, 8)}`;
    const node = new MailComposer({
      ...fields,
      subject,
      ...!hasDate && { date: new Date(now) },
      // Each of many mails has a number of its own.
      ...isMarked && {
        subject: `${subject} - ${id}`,
        messageId: `<${id}@${params.myhostname}>`,
        headers: { ...headers, "X-Send-Timestamp-Ns": sentAt },
      },
    } as never).compile();
    const envelope = node.getEnvelope();
    if (!envelope.from) throw addressError("from", from);
    if (envelope.to.length === 0) throw addressError("to", to);
    return {
      from: envelope.from,
      to: envelope.to,
      id: node.messageId(),
      bytes: await node.build(),
    };
  };
}

function addressError(name: string, address: Value): StepError {
  return new StepError(
    `cannot run smtp: "${name}" has no mail address: ${JSON.stringify(address)}`,
    "write a@example.com or Ann <a@example.com>",
    { parameter: name },
  );
}

const LINE = 80;

function textPart({ body, html, length }: MailParams): string | undefined {
  const text = body ?? (html === undefined ? "This is a test mail." : undefined);
  if (length === 0) return text;
  const filler = "*".repeat(length).match(new RegExp(`.{1,${LINE}}`, "g"))!;
  return [...text ? [text] : [], ...filler].join("\n");
}

function headersOf(headers: Dict): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(headers).filter(([, value]) => value !== null).map(([name, value]) => {
      return [name, Array.isArray(value) ? value.map(textOf) : textOf(value)];
    }),
  );
}

async function readAttachment(
  { file, content, filename, type, cid }: Attachment,
  attempt: ActionAttempt,
) {
  return {
    content: content ?? await attempt.read(file!, "attachments", "the attachment"),
    filename: filename ?? file?.replace(/.*[\\/]/s, ""),
    contentType: type,
    cid,
  };
}
