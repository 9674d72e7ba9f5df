//! A window of Tauri with a line of text: what Deskbell's first paint is compared with.

fn main() {
    let built =
        tauri::Builder::default().build(tauri::generate_context!("tests/bare_window/tauri.conf.json"));
    match built {
        Ok(app) => app.run(|_, _| {}),
        Err(error) => {
            eprintln!("bare window: {error}");
            std::process::exit(1);
        }
    }
}
