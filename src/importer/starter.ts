/** A workflow to begin with, which explains itself. */
export const STARTER =
  `# A workflow is a graph of jobs. Jobs run in parallel unless one needs another; the steps of a
# job run in order, and each does one thing: "runner actions" lists what they can do.
#
#   runner check workflow.yml   finds mistakes and runs nothing
#   runner workflow.yml         runs it; -v shows every request and response
name: My first workflow

# Values for the whole file. A name in capitals reads the environment, and ?? gives a default:
# URL=https://api.example.com runner workflow.yml
vars:
  url: "{{URL ?? 'https://example.com'}}"

jobs:
  - name: Website
    id: website
    steps:
      - name: answers with a page
        id: page
        uses: http
        with:
          get: "{{vars.url}}"
        # The step passes if its test is true: res is the response, rt the time that it took.
        test: res.code == 200 && rt.sec < 10
        # Until the test is true, it is tried again.
        retry: { max_attempts: 3, interval: 1s }
        # What later steps and jobs can read, here as outputs.page.type.
        outputs:
          type: res.headers["Content-Type"]

  - name: Summary
    # It starts when that job has passed.
    needs: [website]
    steps:
      - name: the page is HTML
        uses: echo
        with:
          message: "{{vars.url}} sends {{outputs.page.type}}"
        test: res.message contains "text/html"
`;
