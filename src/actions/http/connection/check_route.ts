import { StepError } from "../../../base/errors.ts";
import type { ActionContext } from "../../../action/action.ts";
import type { Refusal } from "../../../action/permissions/permissions.ts";
import type { HttpRequest } from "../request/read_request.ts";
import type { Connection } from "./connection.ts";
import { authorityOf } from "../../../action/net/endpoint.ts";
import { describeRoute, firstHop, routeOf } from "./route.ts";

/**
 * Throws `StepError` if the permissions of the run do not allow the place that a request connects
 * to, which may be another than the host of its URL.
 */
export async function checkRoute(
  request: HttpRequest,
  connection: Connection,
  { permissions, host }: ActionContext,
): Promise<void> {
  if (!permissions) return;
  const route = routeOf(request.url, connection);
  const hop = firstHop(route);
  let refusal: Refusal | undefined;
  if (hop) {
    const { netRefusal } = await import("../../../action/permissions/host_rule.ts");
    refusal = netRefusal(permissions, new URL(`http://${authorityOf(hop)}`));
  } else if (route.kind === "unix") {
    const { pathRefusal } = await import("../../../action/permissions/path_rule.ts");
    refusal = await pathRefusal(permissions, "read", route.path, host) ??
      await pathRefusal(permissions, "write", route.path, host);
  }
  if (!refusal) return;
  const failure = `cannot send ${request.method} "${request.url}" to ${
    describeRoute(request, route)
  }`;
  throw new StepError(`${failure}: ${refusal.message}`, refusal.hint);
}
