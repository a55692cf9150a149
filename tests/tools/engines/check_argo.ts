/**
 * Reads a workflow of Argo from standard input, and prints what is wrong with its types by the
 * schema of Argo Workflows 4.
 */
import { Workflow } from "argo-workflows";

interface Mistake {
  readonly instancePath: string;
  readonly message: string;
}

const workflow = await new Response(Deno.stdin.readable).json();
const mistakes: string[] = [];
try {
  new Workflow(workflow).validate();
} catch (error) {
  for (const { instancePath, message } of (error as { errors: Mistake[] }).errors) {
    mistakes.push(`${instancePath} ${message}`);
  }
}
// Argo names the containers of templates itself.
const wrong = mistakes.filter((one) => !/\/container must have required property name$/.test(one));
// deno-lint-ignore no-console
console.log(JSON.stringify(wrong));
