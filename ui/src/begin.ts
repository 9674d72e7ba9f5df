// The first script of a page: it loads everything else. WebKit draws nothing while it loads or runs a script of the document
// itself; while this one waits, it draws the bell of index.html.

import './app.css';

await import('./main');
