/** A workflow of 5 MB with an expression in each of its steps, no two of them alike. */
export function largeWorkflow(): string {
  let text = "name: large\njobs:\n";
  for (let job = 0; text.length < 5_000_000; job++) {
    text += `  - name: job ${job}\n    steps:\n`;
    for (let step = 0; step < 10; step++) text += stepOf(job, step);
  }
  return text;
}

function stepOf(job: number, step: number): string {
  return `      - name: step ${job} ${step}
        uses: http
        with:
          url: https://example.test/${job}/${step}
          method: GET
          headers:
            x-request-number: "number ${job} ${step} of the workflow"
            accept: application/json
        test: res.code == 200 && res.body.items[${step}].id == ${job * 10 + step}
`;
}
