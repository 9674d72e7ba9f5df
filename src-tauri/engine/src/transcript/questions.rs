//! The agent's questions and the user's answers, as a transcript shows them.

use crate::agent::ToolResult;
use crate::api::{AnsweredOption, AnsweredQuestion, Question};

/// Calls with more, or with longer texts, are shown as JSON, in parts. The agent asks at most 4 questions with 4
/// options each (2.1.329).
const MOST_QUESTIONS: usize = 16;
const MOST_OPTIONS: usize = 32;
const MOST_BYTES: usize = 16 * 1024;

/// The questions with the answers in the result; `None` if they are too many to show at once.
pub fn answered(questions: &[Question], outcome: Option<&ToolResult>) -> Option<Vec<AnsweredQuestion>> {
    let is_long = |question: &Question| question.options.len() > MOST_OPTIONS;
    if questions.is_empty() || questions.len() > MOST_QUESTIONS || questions.iter().any(is_long) {
        return None;
    }
    let answer = |question: &Question| outcome?.answer(&question.text);
    let answered: Vec<_> = questions.iter().map(|question| with_answer(question, answer(question))).collect();
    let bytes: usize = answered.iter().map(bytes).sum();
    (bytes <= MOST_BYTES).then_some(answered)
}

fn with_answer(question: &Question, answer: Option<&str>) -> AnsweredQuestion {
    let (chosen, own_words) = answer.map(|answer| chosen(question, answer)).unwrap_or_default();
    let option = |(place, option): (usize, &crate::api::QuestionOption)| AnsweredOption {
        label: option.label.clone(),
        description: option.description.clone(),
        is_chosen: chosen.contains(&place),
    };
    AnsweredQuestion {
        text: question.text.clone(),
        header: question.header.clone(),
        options: question.options.iter().enumerate().map(option).collect(),
        own_words,
        is_answered: answer.is_some(),
    }
}

/// The options that an answer names, and the rest of it. Several options are one text: “Red, Blue”.
fn chosen(question: &Question, answer: &str) -> (Vec<usize>, Option<String>) {
    let place = |label: &str| question.options.iter().position(|option| option.label == label);
    if let Some(place) = place(answer) {
        return (vec![place], None);
    }
    if !question.multi_select {
        return (Vec::new(), Some(answer.to_owned()));
    }
    let mut rest = answer;
    let mut places = Vec::new();
    while !rest.is_empty() {
        // A label may contain a comma: the longest one that fits is meant.
        let fits = |label: &str| match rest.strip_prefix(label) {
            Some(behind) => behind.is_empty() || behind.starts_with(", "),
            None => false,
        };
        let options = question.options.iter().enumerate();
        let fitting = options.filter(|(_, option)| !option.label.is_empty() && fits(&option.label));
        let Some((place, option)) = fitting.max_by_key(|(_, option)| option.label.len()) else { break };
        places.push(place);
        let behind = &rest[option.label.len()..];
        rest = behind.strip_prefix(", ").unwrap_or(behind);
    }
    (places, Some(rest.to_owned()).filter(|rest| !rest.is_empty()))
}

fn bytes(question: &AnsweredQuestion) -> usize {
    let options: usize =
        question.options.iter().map(|option| option.label.len() + option.description.len()).sum();
    question.text.len() + question.header.len() + options + question.own_words.as_ref().map_or(0, String::len)
}

/// One line for each question: “Which colour? Red, Blue”.
pub fn lines(questions: &[AnsweredQuestion]) -> impl Iterator<Item = (&str, String)> {
    questions.iter().map(|question| (question.text.as_str(), answer_words(question)))
}

fn answer_words(question: &AnsweredQuestion) -> String {
    if !question.is_answered {
        return "not answered".to_owned();
    }
    let chosen = question.options.iter().filter(|option| option.is_chosen);
    let labels = chosen.map(|option| option.label.as_str());
    labels.chain(question.own_words.as_deref()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::QuestionOption;
    use serde_json::{Value, json};

    fn question(text: &str, labels: &[&str], multi_select: bool) -> Question {
        let option = |label: &&str| QuestionOption {
            label: (*label).to_owned(),
            description: String::new(),
            preview: None,
        };
        let options = labels.iter().map(option).collect();
        Question { text: text.to_owned(), header: String::new(), options, multi_select }
    }

    fn words(question: Question, answers: Value) -> (Vec<bool>, Option<String>, String) {
        let structured = json!({ "answers": answers });
        let outcome = crate::transcript::tests::result("", Some(structured), false);
        let known = answered(&[question], Some(&outcome)).unwrap().remove(0);
        let line = lines(std::slice::from_ref(&known)).next().unwrap().1;
        (known.options.iter().map(|option| option.is_chosen).collect(), known.own_words, line)
    }

    #[test]
    fn the_chosen_options_and_own_words_are_told_apart() {
        let colour = |multi| question("Which?", &["Red", "Red, dark", "Blue"], multi);
        let one = words(colour(false), json!({"Which?": "Blue"}));
        assert_eq!(one, (vec![false, false, true], None, "Blue".to_owned()));
        let own = words(colour(false), json!({"Which?": "Red, Blue"}));
        assert_eq!(own, (vec![false; 3], Some("Red, Blue".to_owned()), "Red, Blue".to_owned()));
        let two = words(colour(true), json!({"Which?": "Red, Blue"}));
        assert_eq!(two, (vec![true, false, true], None, "Red, Blue".to_owned()));
        let comma = words(colour(true), json!({"Which?": "Red, dark, and no pink"}));
        assert_eq!(
            comma,
            (vec![false, true, false], Some("and no pink".to_owned()), "Red, dark, and no pink".into())
        );
        for none in [json!({}), json!({"Which?": 7}), json!(null), json!({"Other?": "Red"})] {
            assert_eq!(words(colour(false), none), (vec![false; 3], None, "not answered".to_owned()));
        }
        assert!(!answered(&[colour(true)], None).unwrap()[0].is_answered);
    }

    #[test]
    fn too_much_to_show_at_once_is_no_list() {
        assert_eq!(answered(&[], None), None);
        assert_eq!(answered(&vec![question("?", &[], false); 17], None), None);
        assert_eq!(answered(&[question("?", &[""; 33], false)], None), None);
        assert_eq!(answered(&[question(&"?".repeat(MOST_BYTES + 1), &[], false)], None), None);
    }
}
